import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

/// What a receiver at a serial port is to the source: a pseudo terminal, under a link that can be taken away.
@ServiceActor
private final class FakeReceiver {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
    private var master: FileDescriptor?
    private var slave: FileDescriptor?
    private var terminal = ""

    var device: String { folder.appending(path: "ttyUSB0").path }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }

    func plug() throws {
        var (one, other): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        try #require(openpty(&one, &other, &name, nil, nil) == 0)
        for end in [one, other] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        master = FileDescriptor(adopting: one)
        slave = FileDescriptor(adopting: other)
        let path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        try FileManager.default.createSymbolicLink(atPath: device, withDestinationPath: path)
        terminal = path
    }

    func unplug() throws {
        try FileManager.default.removeItem(atPath: device)
        hangUp()
    }

    /// The line breaks, and the device stays.
    func hangUp() {
        slave = nil
        master = nil
    }

    func send(_ bytes: [UInt8]) throws {
        let master = try #require(master)
        #expect(bytes.withUnsafeBytes { write(master.raw, $0.baseAddress, $0.count) } == bytes.count)
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Whether anybody beside this has the device open.
    var isOpen: Bool {
        let folder = "/proc/self/fd"
        let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return open.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == terminal
        } > 1
    }

    /// In bits a second.
    var speed: Int {
        var settings = termios()
        guard let slave, tcgetattr(slave.raw, &settings) == 0 else { return 0 }
        let speeds = [B4800: 4800, B9600: 9600, B38400: 38400, B57600: 57600, B115200: 115_200]
        return speeds[Int32(cfgetospeed(&settings))] ?? 0
    }

    /// Whether bytes pass as they are, and modem lines count for nothing.
    var isRaw: Bool {
        var settings = termios()
        guard let slave, tcgetattr(slave.raw, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ICANON | ECHO) == 0 && settings.c_cflag & tcflag_t(CLOCAL) != 0
    }
}

@Suite struct SerialPortTests {
    @Test("a receiver of the kernel's GNSS subsystem is one under a link, too")
    @ServiceActor
    func gnss() throws {
        let folder = TestFolder.unused("gnss")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let devices = try #require(realpath(folder.path, nil).map { String(cString: $0) })
        for name in ["gnss0", "zero"] { try Data().write(to: folder.appending(path: name)) }
        let link = folder.appending(path: "receiver").path

        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "gnss0")
        #expect(SerialPort.isGNSS(link, in: devices) && SerialPort.isGNSS("\(devices)/gnss0", in: devices))
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "zero")
        #expect(!SerialPort.isGNSS(link, in: devices) && !SerialPort.isGNSS("\(devices)/gnss1", in: devices))
    }
}

@Suite(.timeLimit(.minutes(1))) struct NMEASerialSourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let receiver: FakeReceiver
        let source: NMEASerialSource
        let reports: Reports

        init(speed: Int? = 9600, plugged: Bool = true) throws {
            receiver = try FakeReceiver()
            if plugged { try receiver.plug() }
            source = NMEASerialSource(device: receiver.device, speed: speed, clock: clock)
            reports = Reports(of: source)
            source.discover()
        }

        /// A fix, of which the receiver is known to have sent all.
        func fix(_ time: String) async throws -> Fix {
            try receiver.send(gga(time) + gga(time + ".5"))
            return try await nextFix()
        }

        func nextFix() async throws -> Fix {
            while true {
                if case .fix(let fix) = try await reports.next() { return fix }
            }
        }

        /// Waits for the device to be open, which the terminal's mode tells.
        func opened() async { await until { self.receiver.isRaw } }
    }

    @Test("a device that is there can serve, and is left alone until it is wanted")
    @ServiceActor
    func onDemand() async throws {
        let bench = try Bench()

        #expect(bench.source.availableLevel == .exact)
        #expect(!bench.receiver.isRaw && bench.clock.pendingTimers == 0)

        bench.source.run(for: .exact)
        #expect(bench.receiver.isRaw && bench.receiver.speed == 9600)
    }

    @Test("its sentences are fixes")
    @ServiceActor
    func fixes() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)

        let fix = try await bench.fix("120000")

        #expect(fix.coordinate == Coordinate(latitude: 10.5, longitude: 20))
        #expect(fix.kind == .gnss && fix.source == "nmea-serial" && fix.measuredAt == bench.clock.now)
    }

    @Test("unplugged it is lost at once, and found when it is plugged in again")
    @ServiceActor
    func unplugged() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)
        _ = try await bench.fix("120000")

        try bench.receiver.unplug()
        await until { bench.reports.all.contains(.lost(source: "nmea-serial")) }
        await until { bench.source.availableLevel == .none }
        bench.source.run(for: Demand(level: .exact, minimumInterval: 5))
        try bench.receiver.plug()
        await bench.opened()

        #expect(bench.source.availableLevel == .exact)
        let fix = try await bench.fix("120010")
        #expect(fix.timestamp.seconds % 60 == 10 || fix.timestamp.seconds % 60 == 0)
    }

    @Test("a device that comes after the client is opened as it comes")
    @ServiceActor
    func later() async throws {
        let bench = try Bench(plugged: false)
        #expect(bench.source.availableLevel == .none)
        bench.source.run(for: .exact)

        try bench.receiver.plug()
        await bench.opened()

        _ = try await bench.fix("120000")
        #expect(bench.reports.all.first == .availabilityChanged)
    }

    @Test("one that breaks and stays is tried again, and not all the time")
    @ServiceActor
    func broken() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)
        _ = try await bench.fix("120000")

        bench.receiver.hangUp()
        await until { bench.reports.all.contains(.lost(source: "nmea-serial")) }
        let before = bench.clock.timersSet
        await bench.clock.advance(by: .seconds(300))

        #expect(bench.clock.timersSet - before <= 20)
        bench.source.run(for: nil)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("the speed is searched where none is configured, and kept once it is found")
    @ServiceActor
    func search() async throws {
        let bench = try Bench(speed: nil)
        bench.source.run(for: .exact)
        #expect(bench.receiver.speed == 4800)

        // Silence says nothing.
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.receiver.speed == 4800)
        try bench.receiver.send([0xE6, 0x98, 0x00, 0x66, 0x0A])
        await until { bench.clock.pendingTimers == 1 }
        await bench.clock.advance(by: SpeedSearch.patience)
        #expect(bench.receiver.speed == 9600)

        try bench.receiver.send(gga("120000") + gga("120001") + gga("120002"))
        _ = try await bench.nextFix()
        await bench.clock.advance(by: SpeedSearch.patience * 4)
        #expect(bench.receiver.speed == 9600)
        bench.source.run(for: nil)
        bench.source.run(for: .exact)
        #expect(bench.receiver.speed == 9600)
    }

    @Test("a receiver whose speed was changed is searched for again")
    @ServiceActor
    func changedSpeed() async throws {
        let bench = try Bench(speed: nil)
        bench.source.run(for: .exact)
        try bench.receiver.send(gga("120000") + gga("120001") + gga("120002"))
        _ = try await bench.nextFix()

        await bench.clock.advance(by: SpeedSearch.doubtAfter)
        let timers = bench.clock.pendingTimers
        try bench.receiver.send([0xE6, 0x98, 0x00, 0x66, 0x0A])
        await until { bench.clock.pendingTimers > timers }
        await bench.clock.advance(by: SpeedSearch.patience)

        #expect(bench.receiver.speed == 9600)
    }

    @Test("stopped it lets go of the device and of all timers")
    @ServiceActor
    func stopped() async throws {
        let bench = try Bench(speed: nil)
        bench.source.run(for: .exact)
        try bench.receiver.send(gga("120000") + gga("120001") + gga("120002"))
        _ = try await bench.nextFix()
        #expect(bench.receiver.isOpen)

        bench.source.run(for: nil)

        #expect(!bench.receiver.isOpen && bench.clock.pendingTimers == 0)
    }

    @Test("what is no serial port is not read", arguments: ["/dev/zero", "/dev/null", "/etc/passwd"])
    @ServiceActor
    func strange(path: String) async throws {
        let clock = ManualClock()
        let source = NMEASerialSource(device: path, clock: clock)
        let reports = Reports(of: source)

        source.discover()
        source.run(for: .exact)
        await clock.advance(by: .seconds(60))

        #expect(!reports.all.contains { if case .fix = $0 { true } else { false } })
    }
}
