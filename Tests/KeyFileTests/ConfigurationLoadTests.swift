import Foundation
import Testing

@testable import KeyFile

@Suite final class ConfigurationLoadTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("keyfile-\(UUID().uuidString)")
        .path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ text: String, to path: String) throws {
        let file = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func port(_ configuration: Configuration) -> UInt16 { configuration.gpsd.address.port }

    @Test("without any of the files everything is as compiled in, and nothing is wrong")
    func noFiles() {
        let (configuration, faults) = Configuration.load(defaultsUnder: root)

        #expect(configuration == Configuration())
        #expect(faults == [])
    }

    @Test("GeoClue's files come first, then the service's own, drop-ins after each in the order of their bytes")
    func order() throws {
        let order = [
            "geoclue/geoclue.conf", "geoclue/conf.d/10.conf", "geoclue/conf.d/9.conf", "geoclue/conf.d/B.conf",
            "geoclue/conf.d/a.conf", "whereabouts/whereabouts.conf", "whereabouts/conf.d/50-site.conf",
        ]
        for (index, path) in order.enumerated() {
            try write("[gpsd]\naddress=127.0.0.1:\(index + 1)\n", to: "etc/\(path)")
            #expect(port(Configuration.load(defaultsUnder: root).0) == UInt16(index + 1), "\(path)")
        }
    }

    @Test("only files whose name ends in .conf are drop-ins, and hidden ones are none")
    func otherFiles() throws {
        for name in ["a.conf.dpkg-old", "README", ".a.conf", "a.conf~"] {
            try write("[gpsd]\naddress=127.0.0.1:1\n", to: "etc/whereabouts/conf.d/\(name)")
        }

        let (configuration, faults) = Configuration.load(defaultsUnder: root)

        #expect(configuration == Configuration())
        #expect(faults == [])
    }

    @Test("a named file takes the place of all others")
    func namedFile() throws {
        try write("[gpsd]\nenable=true\n", to: "etc/geoclue/geoclue.conf")
        try write("[time-zone]\nenable=true\n", to: "mine.conf")

        let (configuration, faults) = Configuration.load(files: ["\(root)/mine.conf"])

        #expect(configuration.timeZone.isEnabled && !configuration.gpsd.isEnabled)
        #expect(faults == [])
    }

    @Test("a named file that is not there is a fault")
    func missingNamedFile() {
        let (_, faults) = Configuration.load(files: ["\(root)/none.conf"])

        #expect(faults == [ConfigurationFault(.unreadable(ENOENT), at: .init(file: "\(root)/none.conf"))])
    }

    @Test("a folder in the place of a file is a fault, and the other files still count")
    func folderForFile() throws {
        try write("[gpsd]\nenable=true\n", to: "etc/geoclue/conf.d/b.conf")
        try FileManager.default.createDirectory(
            atPath: "\(root)/etc/geoclue/conf.d/a.conf", withIntermediateDirectories: true)

        let (configuration, faults) = Configuration.load(defaultsUnder: root)

        #expect(configuration.gpsd.isEnabled)
        #expect(faults.map(\.problem) == [.unreadable(EISDIR)])
    }

    @Test("a file that never ends is refused, and a pipe that nobody writes to does not hold up the start")
    func specialFiles() throws {
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        #expect(mkfifo("\(root)/pipe", 0o600) == 0)

        #expect(Configuration.load(files: ["/dev/zero"]).1.map(\.problem) == [.tooLarge(limit: 1_048_576)])
        #expect(Configuration.load(files: ["\(root)/pipe"]).0 == Configuration())
    }

    @Test("the files that are shipped are without fault, and switch on gpsd, the time zone and one lookup service")
    func shippedFiles() {
        let files = ["whereabouts.conf", "beacondb.conf"].map {
            #filePath.replacingOccurrences(
                of: "Tests/KeyFileTests/ConfigurationLoadTests.swift", with: "packaging/\($0)")
        }

        let (configuration, faults) = Configuration.load(files: files)

        var expected = Configuration()
        expected.gpsd.isEnabled = true
        expected.timeZone.isEnabled = true
        expected.lookup.providers = ["https://api.beacondb.net/v1/geolocate"]
        #expect(configuration == expected)
        #expect(faults == [])
    }

    @Test(
        "GeoClue's own file is without fault",
        .enabled(if: access("/etc/geoclue/geoclue.conf", R_OK) == 0, "needs GeoClue's own file"))
    func installedGeoClueFile() {
        let (configuration, faults) = Configuration.load(files: ["/etc/geoclue/geoclue.conf"])

        #expect(!configuration.applications.isEmpty)
        #expect(faults.map(\.description) == [])
    }
}
