import EventLoop

@testable import LocationSources

/// The kernel's routes, as a test says.
@ServiceActor
final class ScriptedRoutes: RouteFollowing {
    var onChange: (@ServiceActor () -> Void)?
    var state: RouteState?
    private(set) var looks = 0

    func look() -> RouteState? {
        looks += 1
        return state
    }

    func change(to state: RouteState?) {
        self.state = state
        onChange?()
    }
}
