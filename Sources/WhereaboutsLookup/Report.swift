import Glibc

/// Lines on standard error with the priority prefixes of systemd (sd-daemon(3)). They hold no address and no key.
enum Report {
    static func error(_ text: String) { write("<3>whereabouts-lookup: \(text)\n") }
    static func warning(_ text: String) { write("<4>whereabouts-lookup: \(text)\n") }

    private static func write(_ line: String) {
        var line = line
        line.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
