import LookupProtocol
import Testing

struct LookupRequestTests {
    @Test("requests that differ in their body are not equal")
    func equality() {
        let request = LookupRequest(url: "https://example.org", userAgent: "test", body: [])

        #expect(request != LookupRequest(url: "https://example.org", userAgent: "test", body: [1]))
    }
}
