import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SimulateTests {
    init() { EventLoop.startThread() }

    /// The daemon among all that its sources could ask, each of them configured and there, with a client.
    @ServiceActor
    private struct Bench {
        let daemon: RunningDaemon
        let client: GeoClueClient
        let gpsd: Doorbell
        let lookup: Doorbell
        let neighbours: [BusNeighbour]

        init(_ arguments: [String]) async throws {
            let bus = try await PrivateBus()
            (gpsd, lookup) = (try Doorbell(), try Doorbell())
            var neighbours: [BusNeighbour] = []
            for name: BusName in [
                "fi.w1.wpa_supplicant1", "org.freedesktop.ModemManager1", "org.freedesktop.Avahi",
                "net.hadess.SensorProxy",
            ] { neighbours.append(try await BusNeighbour(name, on: bus)) }
            self.neighbours = neighbours
            let url = "http://\(lookup.address)/v1/geolocate"
            daemon = try await RunningDaemon(
                on: bus,
                configuration: """
                    [gpsd]
                    enable=true
                    address=\(gpsd.address)
                    [wifi]
                    enable=true
                    url=\(url)
                    [ip]
                    enable=true
                    url=\(url)
                    [modem-gps]
                    enable=true
                    """, arguments)
            client = try await GeoClueClient(on: bus)
            try await client.start()
        }

        /// Whether the daemon runs another program, as it does for a lookup.
        var hasChildren: Bool {
            let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return processes.contains { process in
                let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
                return status?.contains("\nPPid:\t\(daemon.program.processID)\n") == true
            }
        }
    }

    @Test("without --simulate every source that is configured is asked")
    @ServiceActor
    func real() async throws {
        let bench = try await Bench([])

        await bench.daemon.feed.connected()
        await bench.gpsd.rung()
        await bench.lookup.rung()
        #expect(bench.hasChildren)
        for neighbour in bench.neighbours { _ = try await neighbour.calls.next() }
    }

    @Test("with --simulate the same sources are left alone, and positions are the drive's")
    @ServiceActor
    func simulated() async throws {
        let bench = try await Bench(["--simulate"])

        for _ in 0..<3 {
            let location = try await bench.client.nextLocation()
            #expect(location["Description"]?.value == .string("Simulated"))
        }

        #expect(!bench.daemon.feed.hasReaders && !bench.gpsd.hasRung)
        #expect(!bench.lookup.hasRung && !bench.hasChildren)
        #expect(bench.neighbours.allSatisfy { $0.count == 0 })
    }
}
