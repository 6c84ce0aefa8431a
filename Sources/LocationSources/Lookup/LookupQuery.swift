/// What is asked of a lookup service: where these can be received. With neither, where the machine's own address is.
package struct LookupQuery: Sendable, Hashable {
    /// Strongest first. Only such as may be sent.
    package var accessPoints: [AccessPoint]
    package var cells: [CellTower]

    package init(accessPoints: [AccessPoint] = [], cells: [CellTower] = []) {
        self.accessPoints = accessPoints
        self.cells = cells
    }

    package var isByAddress: Bool { accessPoints.isEmpty && cells.isEmpty }
}

/// One access point as a scan saw it, without its name, which is never sent.
package struct AccessPoint: Sendable, Hashable {
    /// BSSID, its first byte highest.
    package var address: UInt64
    /// In dBm, if it was measured.
    package var signal: Int?
    /// In MHz.
    package var frequency: Int?
    /// When it was last heard, as time since boot.
    package var seenAt: Duration

    package init(address: UInt64, signal: Int?, frequency: Int?, seenAt: Duration) {
        self.address = address
        self.signal = signal
        self.frequency = frequency
        self.seenAt = seenAt
    }
}

/// The cell that a modem is in.
package struct CellTower: Sendable, Hashable {
    /// In the words of Ichnaea and BeaconDB.
    package enum Radio: String, Sendable, Hashable { case gsm, wcdma, lte, nr }

    package var radio: Radio
    /// MCC.
    package var countryCode: Int
    /// MNC.
    package var networkCode: Int
    /// LAC, or TAC with LTE and later.
    package var areaCode: Int
    package var cellID: Int

    package init(radio: Radio, countryCode: Int, networkCode: Int, areaCode: Int, cellID: Int) {
        self.radio = radio
        self.countryCode = countryCode
        self.networkCode = networkCode
        self.areaCode = areaCode
        self.cellID = cellID
    }
}
