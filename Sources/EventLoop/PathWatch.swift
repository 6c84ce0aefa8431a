import Glibc

/// Calls a handler when what stands at a path comes, changes or goes, however it does so (inotify(7)).
///
/// Watches the folder that the name is in, or the nearest folder above it that there is, so the file and its folders
/// may be absent. A file counts as changed when a writer closes it. Where the name is a symbolic link, the link is
/// watched and not what it leads to. The handler may also be called where nothing has changed.
@ServiceActor
package final class PathWatch {
    private let components: [String]
    private let handler: @ServiceActor () -> Void
    private let descriptor: FileDescriptor
    private var watch: Watch?
    /// The folder that is watched, by how many of the components lead to it.
    private var depth: Int?
    private var number: Int32 = -1

    /// What a name in a folder can go through, and the folder itself.
    private static let changes = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF)

    /// - Parameter path: from the root.
    package init(_ path: String, handler: @escaping @ServiceActor () -> Void) {
        components = path.split(separator: "/").map { String($0) }
        self.handler = handler
        descriptor = FileDescriptor(adopting: inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
        guard descriptor.raw >= 0 else {
            Log.warning("cannot watch \(path): \(String(cString: strerror(errno)))")
            return
        }
        guard !components.isEmpty else { return }
        watch = Watch(descriptor, for: .readable) { [weak self] _ in self?.isReady() }
        attach()
    }

    isolated deinit { watch?.cancel() }

    /// Watches the deepest folder there is.
    private func attach() {
        // A folder may appear between the look and the watch; then it is found on the next round.
        for _ in 0...components.count {
            var found = components.count - 1
            while found > 0, !Self.isFolder(path(found)) { found -= 1 }
            guard found != depth else { return }
            if number >= 0 { inotify_rm_watch(descriptor.raw, number) }
            number = inotify_add_watch(descriptor.raw, path(found), Self.changes | UInt32(IN_ONLYDIR))
            depth = number >= 0 ? found : nil
        }
    }

    private func path(_ count: Int) -> String { "/" + components[..<count].joined(separator: "/") }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func isReady() {
        var isConcerned = false
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
            while true {
                let count = read(descriptor.raw, buffer.baseAddress, buffer.count)
                guard count > 0 else { break }
                isConcerned = concerns(UnsafeRawBufferPointer(rebasing: buffer[..<count])) || isConcerned
            }
        }
        guard isConcerned else { return }
        attach()
        handler()
    }

    private func concerns(_ events: UnsafeRawBufferPointer) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var isConcerned = false
        var offset = 0
        while offset + header <= events.count {
            let event = events.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let name = events[(offset + header)..<min(offset + header + Int(event.len), events.count)]
            offset += header + Int(event.len)
            let isOfFolder = event.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW) != 0
            if isOfFolder, event.wd == number || event.wd < 0 {
                depth = nil
                isConcerned = true
            } else if event.wd == number, let depth {
                isConcerned = isConcerned || name.prefix { $0 != 0 }.elementsEqual(components[depth].utf8)
            }
        }
        return isConcerned
    }
}
