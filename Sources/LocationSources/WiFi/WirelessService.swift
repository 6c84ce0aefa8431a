import DBus
import EventLoop

/// One of the services on the bus that know what Wi-Fi adapters hear: how it is asked, and what it says.
@ServiceActor
package protocol WirelessService: Sendable {
    var busName: BusName { get }

    /// Which signals tell that there may be other adapters.
    func adapterSignals(of owner: BusName) -> [MatchRule]

    /// Which signals tell, among other things, what adapters hear.
    func scanSignals(of owner: BusName) -> [MatchRule]

    /// What such a signal says.
    func news(in signal: Message) -> WirelessNews?

    /// The Wi-Fi adapters that it has.
    func adapters(_ talk: WirelessTalk) async throws(BusError) -> [ObjectPath]

    /// What an adapter heard; `nil` if the list is made up.
    func accessPoints(of adapter: ObjectPath, _ talk: WirelessTalk) async throws(BusError) -> [SeenAccessPoint]?

    /// Asks an adapter for a scan.
    func scan(with adapter: ObjectPath, _ talk: WirelessTalk) async throws(BusError)
}

package enum WirelessNews: Sendable, Equatable {
    /// A scan has ended.
    case scan
    /// The list is another one, without a scan of now.
    case list
}
