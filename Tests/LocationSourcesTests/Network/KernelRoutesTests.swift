import EventLoop
import Foundation
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct KernelRoutesTests {
    init() { EventLoop.startThread() }

    /// Whether this machine has a default route by the table that everybody can read.
    private static let hasDefaultRoute =
        (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8))?.split(separator: "\n").dropFirst().contains {
            let fields = $0.split(separator: "\t")
            // Up, to nowhere in particular.
            return fields.count > 7 && fields[1] == "00000000" && fields[7] == "00000000"
        } ?? false

    @Test(
        "the kernel is asked without privileges, and knows the way that this machine has",
        .enabled(if: hasDefaultRoute, "this machine is not on any network"))
    @ServiceActor
    func way() throws {
        let routes = KernelRoutes()

        let state = try #require(routes.look())

        #expect(!state.ways.isEmpty && !state.leads(over: .loopback))
        #expect(routes.look() == state)
    }
}
