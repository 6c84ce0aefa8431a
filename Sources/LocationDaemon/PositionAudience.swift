import EventLoop
import Geolocation

/// Which users the fix that is known now belongs to, at whatever level: those that were using the service when it came.
///
/// To anybody else it would tell where the machine was before, and that somebody asked. Cells are the same for all.
struct PositionAudience {
    private var fix: Fix?
    private var userIDs: Set<UInt32> = []

    /// A position has come, in the use of these users.
    mutating func note(_ position: Position, for users: @autoclosure () -> Set<UInt32>) {
        // A cell that changes comes with the fix that was there before.
        guard let fine = position.fine, fine != fix else { return }
        // Nor does one that the machine has only been turned at belong to others than before.
        let isTurned = isKnown(fine)
        fix = fine
        if !isTurned { userIDs = users() }
    }

    /// What of a position a user may have. Facts about the machine, which somebody has set, are anybody's.
    func position(_ position: Position, for userID: UInt32) -> Position {
        guard let fine = position.fine, fine.kind.ages, !isKnown(fine) || !userIDs.contains(userID) else {
            return position
        }
        var position = position
        position.removeFix()
        return position
    }

    /// Whether every one of these users may have the fix as it is.
    func isWhole(_ position: Position, for users: Set<UInt32>) -> Bool {
        position.fine.map { !$0.kind.ages || isKnown($0) && users.isSubset(of: userIDs) } ?? true
    }

    /// A compass that has been switched off has taken its heading along.
    private func isKnown(_ fine: Fix) -> Bool { fix.map { fine.isSameMeasurement(as: $0) } ?? false }
}

extension Fix {
    /// Whether the two differ in nothing but the heading, which a compass may change.
    fileprivate func isSameMeasurement(as other: Fix) -> Bool {
        var turned = self
        turned.heading = other.heading
        return turned == other
    }
}
