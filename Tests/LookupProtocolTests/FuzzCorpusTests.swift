import Foundation
import LookupProtocol
import Testing

struct FuzzCorpusTests {
    @Test("no beginning and no small change of a fuzzer's seed breaks the reading of lines")
    func seeds() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Corpus/lookup")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder.standardized, includingPropertiesForKeys: nil)
        #expect(files.count >= 5)

        for seed in try files.map({ [UInt8](try Data(contentsOf: $0)) }) {
            for index in seed.indices {
                seed[..<index].withUnsafeBytes { fuzzLookup($0) }
                for change in [0x01, 0x10, 0xFF] as [UInt8] {
                    var copy = seed
                    copy[index] ^= change
                    copy.withUnsafeBytes { fuzzLookup($0) }
                }
            }
        }
    }
}
