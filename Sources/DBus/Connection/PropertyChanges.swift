import EventLoop

/// Properties whose changes are still to be announced, in the order of the first change of each object.
@ServiceActor
final class PropertyChanges {
    private struct Key: Hashable {
        let path: ObjectPath
        let interface: InterfaceName
        let destination: BusName?
    }

    private struct Change {
        let key: Key
        var properties: [MemberName]
        let value: @ServiceActor (MemberName) -> Value?
    }

    private var changes: [Change] = []
    private var indices: [Key: Int] = [:]

    var isEmpty: Bool { changes.isEmpty }

    func add<Owner: BusObject>(
        _ property: MemberName, of owner: Owner, at path: ObjectPath, in interface: Interface<Owner>,
        to destination: BusName?
    ) {
        let key = Key(path: path, interface: interface.name, destination: destination)
        if let index = indices[key] {
            if !changes[index].properties.contains(property) { changes[index].properties.append(property) }
        } else {
            let value = { @ServiceActor (name: MemberName) in (try? interface.property(name))?.get(owner) }
            indices[key] = changes.count
            changes.append(Change(key: key, properties: [property], value: value))
        }
    }

    /// The signals for all that has changed, with the values of now.
    func take() -> [Message] {
        guard !changes.isEmpty else { return [] }
        let ready = changes
        changes = []
        indices = [:]
        return ready.compactMap { change in
            let values = change.properties.compactMap { name in
                change.value(name).map { Value.Entry(key: .string(name.string), value: .variant($0)) }
            }
            do {
                let key = change.key
                return try Message.propertiesChanged(key.path, key.interface, to: key.destination, values)
            } catch {
                Log.error("cannot announce a property of \(change.key.interface): \(error)")
                return nil
            }
        }
    }
}
