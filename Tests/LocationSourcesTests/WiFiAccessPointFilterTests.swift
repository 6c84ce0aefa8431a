import LocationSources
import LocationTestSupport
import Testing

@Suite struct WiFiAccessPointFilterTests {
    private let now = Duration.seconds(1000)

    private func seen(
        _ address: UInt64, name: String = "home", signal: Int? = -50, age: Duration = .zero
    ) -> SeenAccessPoint {
        SeenAccessPoint(
            name: Array(name.utf8),
            accessPoint: AccessPoint(address: address, signal: signal, frequency: 2412, seenAt: now - age))
    }

    private func addresses(_ seen: SeenAccessPoint..., isMoving: Bool = false) -> [UInt64] {
        AccessPointFilter(isMoving: isMoving).admissible(seen, at: now).map(\.address)
    }

    @Test(
        "a name that is hidden, or that asks to be left out, is obeyed",
        arguments: [
            "", "\0", "\0\0\0\0", "home_nomap", "_nomap", "my_optout_net", "_optout", "a_optout_nomap", "Home_NoMap",
            "my_OPTOUT_net",
        ] as [Sample])
    func privateNames(name: Sample) {
        #expect(addresses(seen(0x1, name: name.text), seen(0x2)) == [0x2])
    }

    @Test(
        "a name that only resembles such a one is sent",
        arguments: ["nomap", "home_nomap2", "optout", "a\0", "ö"] as [Sample])
    func ordinaryNames(name: Sample) {
        #expect(addresses(seen(0x1, name: name.text)) == [0x1])
    }

    @Test(
        "an address that a device gave itself, that means many, or that is none, is not sent",
        arguments: [
            0x0200_0000_0001, 0x0600_0000_0001, 0x0100_5E90_1000, 0x0300_0000_0001, 0, 0xFFFF_FFFF_FFFF,
            0x1_0000_0000_0001,
        ] as [UInt64])
    func strangeAddresses(address: UInt64) {
        #expect(addresses(seen(address), seen(0x2)) == [0x2])
    }

    @Test("what was heard more than a minute ago does not count, and after twenty seconds on the move")
    func ages() {
        let points = [seen(0x1, age: .seconds(61)), seen(0x2, age: .seconds(60)), seen(0x3, age: .seconds(20))]

        #expect(addresses(points[0], points[1], points[2]) == [0x2, 0x3])
        #expect(addresses(points[0], points[1], points[2], isMoving: true) == [0x3])
        #expect(addresses(seen(0x1, age: .seconds(-1))) == [])
    }

    @Test("a signal that no receiver measures drops the access point; one that was not measured does not")
    func signals() {
        #expect(
            addresses(
                seen(0x1, signal: 1), seen(0x2, signal: 0), seen(0x3, signal: -100), seen(0x4, signal: -101),
                seen(0x5, signal: nil)) == [0x2, 0x3, 0x5])
    }

    @Test("the strongest come first, of equal ones the lower address, and each comes once, as heard last")
    func order() {
        let points = AccessPointFilter(isMoving: false).admissible(
            [
                seen(0x5, signal: -70), seen(0x9, signal: -40), seen(0x4, signal: -70),
                seen(0x9, signal: -60), seen(0x8, signal: -30, age: .seconds(5)),
                seen(0x8, signal: -80, age: .seconds(1)),
            ], at: now)

        #expect(points.map(\.address) == [0x9, 0x4, 0x5, 0x8])
        #expect(points.map(\.signal) == [-40, -70, -70, -80])
    }

    @Test("all may be told that a scan has, however many these are")
    func counts() {
        let many = (0..<300).map { seen(UInt64($0 + 1), signal: -90 + $0 % 50) }

        #expect(AccessPointFilter(isMoving: false).admissible(many, at: now).count == 300)
    }
}
