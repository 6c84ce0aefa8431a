/// What is said in the log of something that others do not do: once when they stop, and once when they do it again.
///
/// Whoever takes the place of one that has failed is another process, but no other state.
package struct Complaint: Sendable {
    package private(set) var isStanding = false

    package init() {}

    package mutating func raise(_ text: @autoclosure () -> String) {
        if !isStanding { Log.notice(text()) }
        isStanding = true
    }

    package mutating func settle(_ text: @autoclosure () -> String) {
        if isStanding { Log.info(text()) }
        isStanding = false
    }
}
