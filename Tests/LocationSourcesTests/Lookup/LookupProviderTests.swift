import LocationSources
import LocationTestSupport
import Testing

@Suite struct LookupProviderTests {
    @Test(
        "an address is taken as it is, and called by its host",
        arguments: [
            ("https://api.Example.org/v1/geolocate?key=a:b@c/d", "api.example.org", false),
            ("HTTPS://example.org:8443", "example.org", false), ("https://example.org?key=1", "example.org", false),
            ("https://[2001:db8::1]:443/x", "2001:db8::1", false), ("http://127.0.0.1:8123/v1", "127.0.0.1", true),
            ("http://localhost/v1", "localhost", true), ("http://[::1]:80/", "::1", true),
            ("https://127.0.0.1.example.org/", "127.0.0.1.example.org", false),
        ])
    func taken(url: String, host: String, isLocal: Bool) throws {
        let provider = try #require(LookupProvider(url))

        #expect(provider.url == url && provider.host == host && provider.isLocal == isLocal)
    }

    @Test(
        "what could go elsewhere than it seems, or in the clear, is refused",
        arguments: [
            "", "example.org", "ftp://example.org/", "http://example.org/v1", "http://127.0.0.1.example.org/",
            "http://localhost.example.org/", "https:///v1", "https://?key=1", "https://user@example.org/",
            "https://user:password@example.org/", "https://example.org\\@evil.example/", "https://example.org/a b",
            "https://example.org/\u{7F}", "https://example.org/é", "https://exa%6Dple.org/", "https://example.org:0/",
            "https://example.org:65536/", "https://example.org:x/", "https://[::1", "https://[::1]x/",
            "https://[fe80::1%25eth0]/", "https://example.org/#part", "https:/example.org/", "http://127.1/",
        ] as [Sample])
    func refused(url: Sample) {
        #expect(LookupProvider(url.text) == nil)
    }

    @Test("a provider that is printed does not show its key")
    func printed() throws {
        let provider = try #require(LookupProvider("https://example.org/v1?key=secret"))
        var dumped = ""
        dump(provider, to: &dumped)

        #expect("\(provider)" == "example.org" && !dumped.contains("secret"))
    }
}

@Suite struct UserAgentTests {
    @Test(
        "the user agent names program and system, as far as that is known",
        arguments: [
            ("NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n", "Whereabouts/1.0 (debian 12)"),
            ("ID='arch'\n", "Whereabouts/1.0 (arch)"), ("", "Whereabouts/1.0 (linux)"),
            ("ID=a\nID=b\n#ID=c\n", "Whereabouts/1.0 (b)"),
            ("ID=\"x) evil\"\nVERSION_ID=1\r\nX: y\n", "Whereabouts/1.0 (linux 1)"),
            ("ID=\"\nVERSION_ID=\"\"\n", "Whereabouts/1.0 (linux)"),
        ] as [(Sample, String)])
    func userAgent(osRelease: Sample, text: String) {
        #expect(UserAgent.text(version: "1.0", osRelease: osRelease.text) == text)
    }
}
