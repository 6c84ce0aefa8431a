import JSON
import Testing

@testable import LocationSources

@Suite struct LookupBodyTests {
    private static let now = Duration.seconds(1000)

    private func text(_ query: LookupQuery) -> String? {
        query.sendable.map { String(decoding: $0.body(at: Self.now), as: UTF8.self) }
    }

    private func point(
        _ address: UInt64, signal: Int? = -60, frequency: Int? = nil, age: Duration = .zero
    ) -> AccessPoint {
        AccessPoint(address: address, signal: signal, frequency: frequency, seenAt: Self.now - age)
    }

    private func cell(
        _ radio: CellTower.Radio = .lte, _ countryCode: Int = 262, _ networkCode: Int = 2, _ areaCode: Int = 1000,
        _ cellID: Int = 1_715_004
    ) -> CellTower {
        CellTower(radio: radio, countryCode: countryCode, networkCode: networkCode, areaCode: areaCode, cellID: cellID)
    }

    @Test("the place of the address is asked for with nothing in the request")
    func byAddress() {
        #expect(text(LookupQuery()) == "{}")
    }

    @Test(
        "an access point goes with its age in milliseconds, its signal and its frequency, and the address is not used")
    func accessPoints() {
        let query = LookupQuery(accessPoints: [
            point(0x0011_22AA_0001, signal: -51, frequency: 5180, age: .milliseconds(1500)),
            point(0x0011_22AA_000F, signal: nil),
        ])

        #expect(
            text(query) == #"{"considerIp":false,"fallbacks":{"ipf":false,"lacf":false},"wifiAccessPoints":["#
                + #"{"age":1500,"frequency":5180,"macAddress":"00:11:22:aa:00:01","signalStrength":-51},"#
                + #"{"age":0,"macAddress":"00:11:22:aa:00:0f"}]}"#)
    }

    @Test("a cell goes with a radio of its own and none for all")
    func cells() {
        #expect(
            text(LookupQuery(cells: [cell(), cell(.nr, 262, 2, 100_000, 60_000_000_000)]))
                == #"{"cellTowers":["#
                + #"{"cellId":1715004,"locationAreaCode":1000,"mobileCountryCode":262,"mobileNetworkCode":2,"radioType":"lte"},"#
                + #"{"cellId":60000000000,"locationAreaCode":100000,"mobileCountryCode":262,"mobileNetworkCode":2,"radioType":"nr"}],"#
                + #""considerIp":false,"fallbacks":{"ipf":false,"lacf":false}}"#)
    }

    @Test("values that cannot be are left out, and what was heard in the future was heard now")
    func doubtfulValues() {
        let query = LookupQuery(accessPoints: [
            point(0x0011_22AA_0001, signal: 0, frequency: 0, age: .seconds(-5)),
            point(0x0011_22AA_0002, signal: -200, frequency: 90_000),
        ])

        #expect(
            text(query)?.hasSuffix(
                #"[{"age":0,"macAddress":"00:11:22:aa:00:01"},{"age":0,"macAddress":"00:11:22:aa:00:02"}]}"#) == true)
    }

    @Test(
        "an access point whose address is none, a group's or made up is not sent",
        arguments: [0, 0xFFFF_FFFF_FFFF, 0x0100_5E90_1000, 0x0211_22AA_0001, 0x1_0000_0000_0000] as [UInt64])
    func doubtfulAddress(address: UInt64) {
        let query = LookupQuery(accessPoints: [
            point(address), point(0x0011_22AA_0001), point(0x0011_22AA_0002),
        ])

        #expect(query.sendable?.accessPoints.map(\.address) == [0x0011_22AA_0001, 0x0011_22AA_0002])
    }

    @Test("one access point alone is never sent, and then the address is not asked about instead")
    func lonely() {
        let alone = LookupQuery(accessPoints: [point(0x0011_22AA_0001), point(0x0011_22AA_0001)])

        #expect(alone.sendable == nil)
        #expect(LookupQuery(accessPoints: alone.accessPoints, cells: [cell()]).sendable == LookupQuery(cells: [cell()]))
    }

    @Test("of many access points the first twenty go")
    func many() {
        let query = LookupQuery(accessPoints: (1...40).map { point($0) })

        #expect(query.sendable?.accessPoints == Array(query.accessPoints.prefix(20)))
    }

    @Test(
        "a cell with a number that cannot be is left out",
        arguments: [
            (.lte, 0, 2, 1000, 1), (.lte, 1000, 2, 1000, 1), (.lte, 262, -1, 1000, 1), (.lte, 262, 1000, 1000, 1),
            (.lte, 262, 2, 0, 1), (.lte, 262, 2, 0xFFFE, 1), (.gsm, 262, 2, 1000, 0), (.gsm, 262, 2, 1000, 0xFFFF),
            (.wcdma, 262, 2, 1000, -1),
            (.lte, 262, 2, 1000, 0xFFF_FFFF), (.nr, 262, 2, 0xFF_FFFF, 1), (.nr, 262, 2, 1, 0xF_FFFF_FFFF),
        ] as [(CellTower.Radio, Int, Int, Int, Int)])
    func doubtfulCell(radio: CellTower.Radio, country: Int, network: Int, area: Int, id: Int) {
        #expect(LookupQuery(cells: [cell(radio, country, network, area, id)]).sendable == nil)
    }

    @Test("queries are the same by who is heard, and by how the machine is connected where nobody is")
    func keys() {
        let query = LookupQuery(accessPoints: [point(1 << 8), point(2 << 8)], cells: [cell()])
        let later = LookupQuery(
            accessPoints: [point(2 << 8, signal: -80), point(1 << 8, age: .seconds(9))], cells: [cell()])

        #expect(LookupQuery.Key(query, attachment: 1) == LookupQuery.Key(later, attachment: 2))
        #expect(LookupQuery.Key(query, attachment: 1) != LookupQuery.Key(.home, attachment: 1))
        #expect(LookupQuery.Key(LookupQuery(), attachment: 1) != LookupQuery.Key(LookupQuery(), attachment: 2))
    }
}
