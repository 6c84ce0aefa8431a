/// Ways in which a modem finds out where it is (ModemManager 1.20, `MMModemLocationSource`).
package struct ModemSources: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The cell of GSM and its successors.
    package static let cell3GPP = ModemSources(rawValue: 1)
    /// The receiver's position in numbers.
    package static let gnssRaw = ModemSources(rawValue: 2)
    /// The receiver's sentences.
    package static let gnssNMEA = ModemSources(rawValue: 4)
    /// The position of a CDMA base station.
    package static let cellCDMA = ModemSources(rawValue: 8)
    /// The receiver is on, and somebody else reads it from a port of its own.
    package static let gnssUnmanaged = ModemSources(rawValue: 16)

    package static let gnss: ModemSources = [.gnssRaw, .gnssNMEA]
}
