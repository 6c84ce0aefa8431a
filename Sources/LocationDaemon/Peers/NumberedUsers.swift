/// Which users the numbers of clients were given to, as far as that is remembered.
struct NumberedUsers {
    /// How many times the user may change from one number to the next before the oldest ones are forgotten.
    static let limit = 4096

    /// The first number of each row of numbers that went to one user, in order.
    private var rows: [(first: UInt64, userID: UInt32)] = []

    /// - Parameter number: higher than all before.
    mutating func note(_ number: UInt64, _ userID: UInt32) {
        guard rows.last?.userID != userID else { return }
        rows.append((number, userID))
        if rows.count > Self.limit { rows.removeFirst(rows.count - Self.limit / 2) }
    }

    func user(of number: UInt64) -> UInt32? { rows.last { $0.first <= number }?.userID }
}
