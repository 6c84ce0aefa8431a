import Testing

@testable import LocationSources

@Suite struct ModemCellTests {
    private static let lte: UInt32 = 1 << 14
    private static let nr: UInt32 = 1 << 15

    @Test("the area of LTE is its TAC, that of 2G and 3G the LAC, and numbers are hexadecimal but for the network's")
    func generations() {
        let lte = CellTower("262,02,FFFE,1A2B3C,3E8", technologies: Self.lte)
        let gsm = CellTower("310,260,8BE3,2BAF,0", technologies: 1 << 1)
        let wcdma = CellTower("250,40,CE00,CEAD8F0", technologies: 1 << 5 | 1 << 6)

        #expect(lte == CellTower(radio: .lte, countryCode: 262, networkCode: 2, areaCode: 0x3E8, cellID: 0x1A2B3C))
        #expect(gsm == CellTower(radio: .gsm, countryCode: 310, networkCode: 260, areaCode: 0x8BE3, cellID: 0x2BAF))
        #expect(
            wcdma == CellTower(radio: .wcdma, countryCode: 250, networkCode: 40, areaCode: 0xCE00, cellID: 0xCEAD8F0))
    }

    @Test("5G has longer numbers, and beside LTE it is LTE's cell that is told")
    func fifthGeneration() {
        let alone = CellTower("262,01,0,9A5B3C001,1A2B3C", technologies: Self.nr)
        let beside = CellTower("262,01,0,1A2B3C,3E8", technologies: Self.nr | Self.lte)

        #expect(alone?.radio == .nr && alone?.areaCode == 0x1A2B3C && alone?.cellID == 0x9_A5B3_C001)
        #expect(beside?.radio == .lte)
    }

    @Test("a TAC that is told as LAC is one all the same")
    func tacAsLAC() {
        #expect(CellTower("262,02,3E8,1A2B3C,0", technologies: Self.lte)?.areaCode == 0x3E8)
    }

    @Test(
        "what cannot be is no cell",
        arguments: [
            "", ",,,,", "262,02", "000,02,FFFE,1A2B3C,3E8", "26,02,FFFE,1A2B3C,3E8", "262,2,FFFE,1A2B3C,3E8",
            "262,02,FFFE,1A2B3C,0", "262,02,FFFE,1A2B3C,FFFE", "262,02,0,1A2B3C,0", "262,02,FFFE,0,3E8",
            "262,02,FFFE,FFFFFFFF,3E8", "262,02,FFFE,FFFFFFF,3E8", "262,02,FFFE,+1A2B,3E8", "262,02,FFFE,1A2B3C,-3E8",
            "262,02,FFFE,1A2B3C,3E8,1", "262,02,FFFE,FFFFFFFFFFFFFFFF,3E8", "-62,02,FFFE,1A2B3C,3E8", "262,02,x,y,z",
        ])
    func impossible(text: String) {
        #expect(CellTower(text, technologies: Self.lte) == nil)
    }

    @Test("a cell too large for its generation, or of none, is not told")
    func technology() {
        #expect(CellTower("262,02,10,1A2B3C,0", technologies: 1 << 4) == nil)
        #expect(CellTower("262,02,10,2B3C,0", technologies: 0) == nil)
        #expect(CellTower("262,02,10,2B3C,0", technologies: 1 << 10) == nil)
        #expect(CellTower("262,02,10,FFFF,0", technologies: 1 << 1) == nil)
    }
}
