import Glibc

/// The folder that outlives the service.
package struct StateDirectory: Sendable {
    package let path: String

    /// - Parameters:
    ///   - option: what the command line says.
    ///   - environment: what systemd says (`$STATE_DIRECTORY`, a list separated by colons of which the first counts).
    package init(option: String?, environment: String?) {
        let listed = environment?.split(separator: ":").first.map(String.init)
        path = option ?? listed ?? "/var/lib/whereabouts"
    }

    package init(_ path: String) { self.path = path }

    /// Makes the folder, and those above it, where they are missing.
    ///
    /// - Returns: why the folder cannot be used; `nil` if it can be looked into.
    func prepare() -> StoreFault? {
        var ends = path.indices.filter { $0 > path.startIndex && path[$0] == "/" }
        ends.append(path.endIndex)
        for end in ends {
            let folder = String(path[..<end])
            if mkdir(folder, 0o700) != 0, errno != EEXIST, access(folder, F_OK) != 0 { return StoreFault(errno: errno) }
        }
        return access(path, X_OK) == 0 ? nil : StoreFault(errno: errno)
    }

    /// Whether it is the service's own folder, so that what lies in it are the service's own records.
    var isOwn: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }
}
