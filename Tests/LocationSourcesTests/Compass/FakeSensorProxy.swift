import DBus
import DBusTestSupport
import EventLoop

/// Stands in for iio-sensor-proxy, as far as its compass goes.
@ServiceActor
final class FakeSensorProxy: BusObject {
    private static let interface = Interface<FakeSensorProxy>("net.hadess.SensorProxy.Compass") {
        Method("ClaimCompass", access: .anyone, body: FakeSensorProxy.claim)
        Method("ReleaseCompass", access: .anyone, body: FakeSensorProxy.release)
        Property("HasCompass", access: .anyone) { $0.hasCompass }
        Property("CompassHeading", access: .anyone) { $0.heading }
    }

    private static let path: ObjectPath = "/net/hadess/SensorProxy/Compass"

    private let connection: Connection
    private(set) var hasCompass: Bool
    private(set) var heading = -1.0
    /// What becomes of claims.
    let behaviour: FakeBehaviour
    private(set) var claims = 0
    private(set) var releases = 0

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    init(
        _ connection: Connection, hasCompass: Bool = true, heading: Double = -1,
        behaviour: FakeBehaviour = FakeBehaviour()
    ) async throws {
        self.connection = connection
        self.behaviour = behaviour
        self.hasCompass = hasCompass
        self.heading = heading
        connection.objects.add(self, at: Self.path)
        try await connection.takeName("net.hadess.SensorProxy")
    }

    private func claim(_ call: MethodCall) async throws {
        claims += 1
        try await behaviour.take()
    }

    private func release(_ call: MethodCall) { releases += 1 }

    /// Each one a signal of its own.
    func turn(_ headings: Double...) throws {
        for angle in headings {
            heading = angle
            try announce("CompassHeading", .double(angle))
        }
    }

    func plug(_ isThere: Bool) throws {
        hasCompass = isThere
        try announce("HasCompass", .bool(isThere))
    }

    func announce(_ property: String, _ value: Value) throws {
        try connection.emitPropertiesChanged(
            Self.path, Self.interface.name, to: nil, [.init(key: .string(property), value: .variant(value))])
    }

    func settle() async throws { try await connection.settle() }

    func leave() { connection.close() }
}
