import Authorization
import Testing

@Suite struct ApplicationIdentityTests {
    typealias ClaimError = ApplicationIdentity.ClaimError

    @Test("a claim never beats a better identity, nor can it spoil one")
    func claimAgainstOrigin() throws {
        for claim in ["org.example.Trusted", "", "a/b", nil] {
            let identity = try ApplicationIdentity(origin: .flatpak(id: "org.example.Maps"), claim: claim)
            #expect(identity.key == "flatpak:org.example.Maps")
            #expect(identity.isSandboxed)
        }
        #expect(try ApplicationIdentity(origin: .snap(name: "maps"), claim: "x").key == "snap:maps")
        #expect(try ApplicationIdentity(origin: .host(id: "maps"), claim: "x").key == "host:maps")
        #expect(try ApplicationIdentity(origin: .portal, claim: "x").key == "host:xdg-desktop-portal")
    }

    @Test("without a better identity the claim counts, under a trust that says so")
    func claims() throws {
        let plain = try ApplicationIdentity(origin: .unnamed, claim: "org.example.Maps")
        let hidden = try ApplicationIdentity(origin: .unknown, claim: "org.example.Maps")

        #expect(plain.key == "claimed:org.example.Maps" && !plain.isSandboxed)
        #expect(hidden.key == "unknown:org.example.Maps" && hidden.isSandboxed)
    }

    @Test("a Flatpak's record is not that of a program which claims its id")
    func separateKeys() throws {
        let real = try ApplicationIdentity(origin: .flatpak(id: "org.example.Maps"), claim: nil)
        let impostor = try ApplicationIdentity(origin: .unnamed, claim: "org.example.Maps")

        #expect(real.key != impostor.key)
    }

    @Test("the suffix of a desktop file does not make another application")
    func desktopSuffix() throws {
        #expect(try ApplicationIdentity(origin: .unnamed, claim: "org.example.Maps.desktop").id == "org.example.Maps")
        #expect(
            try ApplicationIdentity(origin: .flatpak(id: "org.example.desktop"), claim: nil).id == "org.example.desktop"
        )
    }

    @Test("no id and an empty one are missing", arguments: [nil, "", ".desktop"])
    func missing(claim: String?) {
        #expect(throws: ClaimError.missing) { try ApplicationIdentity(origin: .unnamed, claim: claim) }
        #expect(throws: ClaimError.missing) { try ApplicationIdentity(origin: .unknown, claim: claim) }
        #expect(ClaimError.missing.message == "'DesktopId' property must be set")
    }

    @Test("an id has at most 255 bytes")
    func length() throws {
        let longest = String(repeating: "x", count: 255)

        #expect(try ApplicationIdentity(origin: .unnamed, claim: longest).id == longest)
        #expect(throws: ClaimError.tooLong(bytes: 256)) {
            try ApplicationIdentity(origin: .unnamed, claim: String(repeating: "ä", count: 128))
        }
    }

    @Test(
        "slashes, control characters and characters that turn text around are refused by name",
        arguments: [0x2F, 0, 0x0A, 0x7F, 0x85, 0x202E, 0x2066, 0x200F, 0x2028, 0xFEFF] as [UInt32])
    func characters(codePoint: UInt32) throws {
        let bad = try #require(Unicode.Scalar(codePoint))
        #expect(throws: ClaimError.forbiddenCharacter(bad)) {
            try ApplicationIdentity(origin: .unnamed, claim: "maps\(bad)x")
        }
    }

    @Test("letters of any script are good")
    func scripts() throws {
        #expect(try ApplicationIdentity(origin: .unnamed, claim: "地図.карта-Müller_1").id == "地図.карта-Müller_1")
    }

    @Test("a key is read back as what it was made of, and nothing else is a key")
    func keys() throws {
        let identity = try ApplicationIdentity(origin: .snap(name: "a:b"), claim: nil)

        #expect(ApplicationIdentity(key: identity.key) == identity)
        for key in ["*", "agent:gnome-shell", "flatpak:", "maps", "snap:a/b", ""] {
            #expect(ApplicationIdentity(key: key) == nil)
        }
    }
}
