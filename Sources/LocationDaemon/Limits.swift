/// What one caller may take of the service.
package enum Limits {
    package static let clientsPerPeer = 1024
    package static let clientsPerUser = 4096
    /// Location objects that one client holds; older ones go even before their time.
    package static let locationsPerClient = 128
    /// How long a Location object stays after a second one has taken its place.
    package static let locationLifetime = Duration.seconds(5)
    /// Bytes of a desktop id, which is kept as given and judged at Start.
    package static let desktopIDLength = 4096
}
