import EventLoop
import Positioning

/// A compass that a test turns.
@ServiceActor
package final class ScriptedCompass: HeadingFollowing {
    package var isWanted = false
    package private(set) var heading: Double?
    package var onChange: (@ServiceActor () -> Void)?

    package init() {}

    package func turn(_ heading: Double?) {
        self.heading = heading
        onChange?()
    }
}
