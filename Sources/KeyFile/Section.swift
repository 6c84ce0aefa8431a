/// The groups that are sections of the service. Any other group is an application.
enum Section: String, CaseIterable {
    case agent
    case networkNMEA = "network-nmea"
    case cell3G = "3g"
    case cdma
    case modemGPS = "modem-gps"
    case wifi
    case compass
    case staticSource = "static-source"
    case ip
    // Only here, not in GeoClue:
    case gpsd
    case nmea
    case timeZone = "time-zone"
    case lookup
    case simulation
    case policy
    case bus
}
