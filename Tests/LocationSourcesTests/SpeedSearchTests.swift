import Testing

@testable import LocationSources

@Suite struct SpeedSearchTests {
    @Test("the usual speeds are tried one after the other, and around again")
    func around() {
        var search = SpeedSearch(speed: nil)
        var speeds: [Int] = []

        for _ in 0..<5 {
            speeds.append(search.speed)
            let isNew = search.patienceEnded()
            #expect(isNew)
        }

        #expect(speeds == [4800, 9600, 38400, 115_200, 4800])
    }

    @Test("two sound sentences settle it, one does not")
    func proof() {
        var search = SpeedSearch(speed: nil)

        search.heard(1)
        #expect(!search.isSettled)
        _ = search.patienceEnded()
        search.heard(2)

        #expect(search.isSettled)
        let isNew = search.patienceEnded()
        #expect(!isNew)
        #expect(search.speed == 9600)
    }

    @Test("a settled speed that is doubted is where the search begins")
    func doubt() {
        var search = SpeedSearch(speed: nil)
        _ = search.patienceEnded()
        search.heard(2)

        search.doubt()

        #expect(!search.isSettled)
        #expect(search.speed == 9600)
        let isNew = search.patienceEnded()
        #expect(isNew)
        #expect(search.speed == 38400)
    }

    @Test("a configured speed is never left")
    func configured() {
        var search = SpeedSearch(speed: 57600)

        search.doubt()

        #expect(search.isSettled)
        let isNew = search.patienceEnded()
        #expect(!isNew)
        #expect(search.speed == 57600)
    }
}
