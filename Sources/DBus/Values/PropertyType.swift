/// A type that a property may have.
package protocol PropertyType: DBusType {
    init?(_ value: Value)
    var asValue: Value { get }
}

extension Bool: PropertyType {
    package init?(_ value: Value) {
        guard case .bool(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .bool(self) }
}

extension UInt32: PropertyType {
    package init?(_ value: Value) {
        guard case .uint32(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .uint32(self) }
}

extension Double: PropertyType {
    package init?(_ value: Value) {
        guard case .double(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .double(self) }
}

extension String: PropertyType {
    package init?(_ value: Value) {
        guard case .string(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .string(self) }
}

extension ObjectPath: PropertyType {
    package init?(_ value: Value) {
        guard case .objectPath(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .objectPath(self) }
}

extension UInt64: PropertyType {
    package init?(_ value: Value) {
        guard case .uint64(let content) = value else { return nil }
        self = content
    }
    package var asValue: Value { .uint64(self) }
}

extension Structure: PropertyType where repeat each Field: PropertyType {
    package init?(_ value: Value) {
        guard case .structure(let values) = value, value.signature == Self.signature else { return nil }
        var rest = values[...]
        func next<T: PropertyType>(_ type: T.Type) -> T? { rest.popFirst().flatMap(T.init) }
        // The signature fits, so each field does.
        self.init(repeat next((each Field).self)!)
    }
    package var asValue: Value {
        var values: [Value] = []
        for field in repeat each fields { values.append(field.asValue) }
        return .structure(values)
    }
}
