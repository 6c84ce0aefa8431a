/// One argument of a method or signal: its name, for readers, and its type.
struct Argument: Sendable, Equatable {
    let name: String
    let type: Signature

    static func list(_ names: [String], _ types: [Signature]) -> [Argument] {
        precondition(names.count == types.count, "each argument has one name: \(names)")
        return zip(names, types).map(Argument.init)
    }
}
