import Foundation
import NMEA
import Routes
import Testing

@testable import LocationSources

/// Runs the fuzzers' seeds, and simple mutations of them, through what the fuzzers call.
@Suite struct FuzzCorpusTests {
    private static func seeds(_ name: String) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/\(name)")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder.standardized, includingPropertiesForKeys: nil)
        return try files.map { [UInt8](try Data(contentsOf: $0)) }
    }

    /// The seed, all its beginnings, and the seed with each byte changed in three ways.
    private static func mutations(of seed: [UInt8]) -> [[UInt8]] {
        var all = [seed]
        for index in seed.indices {
            all.append(Array(seed[..<index]))
            for change in [0x01, 0x10, 0xFF] as [UInt8] {
                var copy = seed
                copy[index] ^= change
                all.append(copy)
            }
        }
        return all
    }

    @Test("no beginning and no small change of a seed breaks the NMEA decoder")
    func nmea() throws {
        let seeds = try Self.seeds("nmea")
        #expect(seeds.count >= 8)

        for bytes in seeds.flatMap(Self.mutations) { bytes.withUnsafeBytes { fuzzNMEA($0) } }
    }

    @Test("no beginning and no small change of a seed breaks the gpsd decoder")
    func gpsd() throws {
        let seeds = try Self.seeds("gpsd")
        #expect(seeds.count >= 7)

        for bytes in seeds.flatMap(Self.mutations) { bytes.withUnsafeBytes { fuzzGPSD($0) } }
    }

    @Test("no beginning and no small change of a seed breaks the reader of routes")
    func routes() throws {
        let seeds = try Self.seeds("routes")
        #expect(seeds.count >= 4)

        for bytes in seeds.flatMap(Self.mutations) { bytes.withUnsafeBytes { fuzzRoute($0) } }
    }

    @Test("an empty input is an input")
    func empty() {
        fuzzNMEA(UnsafeRawBufferPointer(start: nil, count: 0))
        fuzzGPSD(UnsafeRawBufferPointer(start: nil, count: 0))
        fuzzRoute(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
