import DBus
import EventLoop

/// Calls to one service that together come to an end by a deadline, however many they are.
@ServiceActor
package struct WirelessTalk {
    /// More adapters and access points than this are not looked at, whatever a service says it has.
    static let mostDevices = 256
    static let mostAccessPoints = 256

    /// What one reply may take in memory, in bytes: a list of some thousand paths, or what an access point says of itself.
    private static let sizeLimit = 1 << 20

    let connection: Connection
    let peer: BusName
    let clock: any Clock
    let deadline: Duration

    package func call<each A: DBusType, R: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each A,
        returning result: R.Type
    ) async throws(BusError) -> R {
        let reply = try await reply(path, interface, member, repeat each arguments)
        do { return try reply.read(as: result, sizeLimit: Self.sizeLimit) } catch { throw error.busError }
    }

    @discardableResult
    package func reply<each A: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each A
    ) async throws(BusError) -> Message {
        let timeout = deadline - clock.now
        guard timeout > .zero else { throw .noReply }
        // By the unique name, so that nobody is ever started for it.
        let message = Message.methodCall(to: peer, path, interface, member)
        do { try message.append(repeat each arguments) } catch { throw error.busError }
        return try await connection.call(message, timeout: timeout)
    }

    package func property(
        _ path: ObjectPath, _ interface: InterfaceName, _ name: String
    ) async throws(BusError) -> Value {
        try await call(path, .properties, "Get", interface.string, name, returning: Variant.self).value
    }

    /// All properties of each object. One that has gone in the meantime, or does not answer properly, is left out.
    package func properties(
        of paths: [ObjectPath], _ interface: InterfaceName
    ) async throws(BusError) -> [[String: Variant]] {
        var found: [[String: Variant]] = []
        for path in paths.prefix(Self.mostAccessPoints) {
            do throws(BusError) {
                found.append(
                    try await call(
                        path, .properties, "GetAll", interface.string, returning: [String: Variant].self))
            } catch {
                if error.name == BusError.noReply.name || Task.isCancelled { throw error }
            }
        }
        return found
    }
}

extension Value {
    var paths: [ObjectPath]? {
        guard case .array(ObjectPath.signature, let elements) = self else { return nil }
        return elements.compactMap { if case .objectPath(let path) = $0 { path } else { nil } }
    }

    var bytes: [UInt8]? {
        guard case .array(UInt8.signature, let elements) = self else { return nil }
        return elements.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
    }
}

extension SeenAccessPoint {
    /// What a service says of one, checked.
    ///
    /// - Parameters:
    ///   - address: of six bytes.
    ///   - frequency: in MHz; where it is that of no Wi-Fi channel, it counts as unknown.
    init?(name: [UInt8], address: [UInt8], signal: Int, frequency: Int, seenAt: Duration) {
        // A name has 32 bytes at most (IEEE 802.11, 9.4.2.2).
        guard address.count == 6, name.count <= 32 else { return nil }
        self.init(
            name: name,
            accessPoint: AccessPoint(
                address: address.reduce(0) { $0 << 8 | UInt64($1) }, signal: signal,
                frequency: (2400...72_000).contains(frequency) ? frequency : nil, seenAt: seenAt))
    }
}
