// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Support/\(name)", swiftSettings: strict)
}

let package = Package(
    name: "Whereabouts",
    products: [
        .executable(name: "whereaboutsd", targets: ["whereaboutsd"]),
        .executable(name: "whereabouts", targets: ["WhereaboutsCommand"]),
        .executable(name: "whereabouts-lookup", targets: ["WhereaboutsLookup"]),
    ],
    targets: [
        // Floor 0: C libraries.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CGetopt"),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CNetlink"),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        // Floor 1: words.
        room("EventLoop", ["CLinux"]),
        room("DBus", ["CDBus", "EventLoop"]),
        room("Geolocation"),
        room("JSON", ["CJansson"]),
        room("KeyFile"),
        room("LookupProtocol", ["JSON"]),
        room("NMEA", ["Geolocation"]),
        room("Routes", ["CExpat", "EventLoop", "Geolocation", "NMEA"]),

        // Floor 2: knowing.
        room("GeoClueAPI", ["DBus", "Geolocation"]),
        room("Authorization", ["CSQLite", "EventLoop", "Geolocation", "KeyFile"]),
        room("Positioning", ["EventLoop", "Geolocation"]),

        // Floor 3: doing.
        room(
            "LocationSources",
            [
                "CNetlink", "DBus", "EventLoop", "Geolocation", "JSON", "LookupProtocol", "NMEA", "Positioning",
                "Routes",
            ]),
        room(
            "LocationDaemon",
            ["Authorization", "DBus", "EventLoop", "GeoClueAPI", "Geolocation", "Positioning"]),

        // Floor 4: executables.
        program(
            "whereaboutsd",
            [
                "Authorization", "CGetopt", "DBus", "EventLoop", "GeoClueAPI", "Geolocation", "KeyFile",
                "LocationDaemon", "LocationSources", "Positioning", "Routes",
            ]),
        program("WhereaboutsCommand", ["DBus", "EventLoop", "GeoClueAPI", "Geolocation"]),
        program("WhereaboutsLookup", ["CCurl", "CSeccomp", "LookupProtocol"]),

        // Tests.
        support("DBusTestSupport", ["DBus", "EventLoop", "LocationTestSupport"]),
        support("NMEATestSupport", ["NMEA"]),
        support("LocationTestSupport", ["Authorization", "EventLoop", "Geolocation", "Positioning"]),
        tests("EventLoopTests", ["EventLoop"]),
        tests("DBusTests", ["DBus", "DBusTestSupport", "EventLoop", "LocationTestSupport"]),
        tests("GeolocationTests", ["Geolocation", "LocationTestSupport"]),
        tests("JSONTests", ["JSON", "LocationTestSupport"]),
        tests("LookupProtocolTests", ["LookupProtocol"]),
        tests("NMEATests", ["Geolocation", "LocationTestSupport", "NMEA", "NMEATestSupport"]),
        tests("RoutesTests", ["EventLoop", "Geolocation", "LocationTestSupport", "NMEATestSupport", "Routes"]),
        tests("KeyFileTests", ["KeyFile", "LocationTestSupport"]),
        tests("AuthorizationTests", ["Authorization", "EventLoop", "Geolocation", "KeyFile", "LocationTestSupport"]),
        tests("PositioningTests", ["EventLoop", "Geolocation", "LocationTestSupport", "Positioning"]),
        tests(
            "LocationSourcesTests",
            [
                "Authorization", "DBus", "DBusTestSupport", "EventLoop", "GeoClueAPI", "Geolocation", "JSON",
                "LocationDaemon", "LocationSources", "LocationTestSupport", "LookupProtocol", "NMEA", "NMEATestSupport",
                "Positioning", "Routes",
            ]),
        tests("WhereaboutsCommandTests", ["DBus", "Geolocation", "WhereaboutsCommand"]),
        tests("WhereaboutsLookupTests", ["WhereaboutsLookup"]),
        tests(
            "LocationDaemonTests",
            [
                "Authorization", "DBus", "DBusTestSupport", "EventLoop", "GeoClueAPI", "Geolocation", "KeyFile",
                "LocationDaemon", "LocationTestSupport", "Positioning",
            ]),
        tests(
            "EndToEndTests",
            [
                "DBus", "DBusTestSupport", "EventLoop", "GeoClueAPI", "Geolocation", "LocationTestSupport", "NMEA",
                "Positioning",
            ]),
    ]
)
