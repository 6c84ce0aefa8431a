internal import CDBus
import EventLoop

/// The libdbus connection itself: opening, its descriptors on the loop, messages in and out.
@ServiceActor
final class Transport {
    private let pointer: OpaquePointer
    /// libdbus has one watch for reading and one for writing; epoll knows their descriptor once.
    private var watches: [OpaquePointer] = []
    private var loopWatch: Watch?
    private var isScheduled = false
    private var isClosed = false
    private let receive: @ServiceActor (Message) -> Void

    /// Messages that one turn of the loop takes before it looks at other descriptors again.
    private static let messagesPerTurn = 64

    /// Connects and says hello to the bus. Blocks, so it belongs to the start of a program.
    ///
    /// - Throws: what libdbus reports, as a ``BusError``.
    init(_ address: BusAddress, receive: @escaping @ServiceActor (Message) -> Void) throws(BusError) {
        self.receive = receive
        pointer = try withDBusError { error in
            switch address {
            case .system: return dbus_bus_get_private(DBUS_BUS_SYSTEM, error)
            case .session: return dbus_bus_get_private(DBUS_BUS_SESSION, error)
            case .address(let text):
                guard let opened = dbus_connection_open_private(text, error) else { return nil }
                guard dbus_bus_register(opened, error) != 0 else {
                    dbus_connection_close(opened)
                    dbus_connection_unref(opened)
                    return nil
                }
                return opened
            }
        }
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // Stops reading, rather than growing, while this much is unread.
        dbus_connection_set_max_received_size(pointer, 8 << 20)
        // Nor are there more descriptors in what is unread than one message brings, which a bus limits to 16: where the
        // process has none left, libdbus gives up the connection.
        dbus_connection_set_max_received_unix_fds(pointer, 1)
        watchDescriptors()
        scheduleReceiving()
    }

    var uniqueName: BusName {
        BusName(trusted: dbus_bus_get_unique_name(pointer).map { String(cString: $0) } ?? "")
    }

    /// Bytes that the bus has not taken yet.
    var outgoingSize: Int { dbus_connection_get_outgoing_size(pointer) }

    /// Queues a message and writes as much as the socket takes.
    ///
    /// - Returns: the message's serial, by which a reply names it; `nil` if the connection is closed.
    @discardableResult
    func send(_ message: Message) -> UInt32? {
        var serial: dbus_uint32_t = 0
        guard dbus_connection_send(pointer, message.pointer, &serial) != 0 else { return nil }
        return serial
    }

    /// Ends the connection. Nothing is received afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_close(pointer)
    }

    isolated deinit {
        close()
        dbus_connection_unref(pointer)
    }

    // MARK: Receiving

    private func scheduleReceiving() {
        guard !isScheduled else { return }
        isScheduled = true
        EventLoop.shared.defer { [weak self] in self?.receiveQueued() }
    }

    private func receiveQueued() {
        isScheduled = false
        for _ in 0..<Self.messagesPerTurn {
            guard !isClosed, let next = dbus_connection_pop_message(pointer) else { return }
            receive(Message(adopting: next, isReceived: true))
        }
        scheduleReceiving()
    }

    // MARK: Descriptors

    private func watchDescriptors() {
        let owner = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_set_watch_functions(
            pointer,
            { watch, owner in
                Transport.onLoop(watch, owner) { $0.add($1) }
                return 1
            },
            { watch, owner in Transport.onLoop(watch, owner) { $0.remove($1) } },
            { watch, owner in Transport.onLoop(watch, owner) { transport, _ in transport.updateInterest() } },
            owner, nil)
    }

    private nonisolated static func onLoop(
        _ watch: OpaquePointer?, _ owner: UnsafeMutableRawPointer?,
        _ body: @ServiceActor (Transport, OpaquePointer) -> Void
    ) {
        nonisolated(unsafe) let watch = watch!
        nonisolated(unsafe) let owner = owner!
        ServiceActor.assumeIsolated { body(Unmanaged<Transport>.fromOpaque(owner).takeUnretainedValue(), watch) }
    }

    private func add(_ watch: OpaquePointer) {
        watches.append(watch)
        updateInterest()
    }

    private func remove(_ watch: OpaquePointer) {
        watches.removeAll { $0 == watch }
        updateInterest()
    }

    private func updateInterest() {
        guard let first = watches.first else {
            loopWatch?.cancel()
            loopWatch = nil
            return
        }
        var interest: Watch.Events = []
        for watch in watches where dbus_watch_get_enabled(watch) != 0 {
            let flags = dbus_watch_get_flags(watch)
            if flags & DBUS_WATCH_READABLE.rawValue != 0 { interest.insert(.readable) }
            if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writable) }
        }
        if let loopWatch {
            loopWatch.interest = interest
        } else {
            loopWatch = Watch(dbus_watch_get_unix_fd(first), for: interest) { [weak self] in self?.handle($0) }
        }
    }

    private func handle(_ events: Watch.Events) {
        var condition: UInt32 = 0
        if events.contains(.readable) { condition |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { condition |= DBUS_WATCH_WRITABLE.rawValue }
        if events.contains(.hangup) { condition |= DBUS_WATCH_HANGUP.rawValue }
        if events.contains(.error) { condition |= DBUS_WATCH_ERROR.rawValue }
        // Handling one may end the connection, which frees the other.
        for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
            let wanted = dbus_watch_get_flags(watch) | DBUS_WATCH_HANGUP.rawValue | DBUS_WATCH_ERROR.rawValue
            if condition & wanted != 0 { dbus_watch_handle(watch, condition & wanted) }
        }
        scheduleReceiving()
    }
}

/// Runs a call of libdbus that reports failure through a `DBusError`.
func withDBusError<Result>(_ body: (UnsafeMutablePointer<DBusError>) -> Result?) throws(BusError) -> Result {
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    if let result = body(&error) { return result }
    guard dbus_error_is_set(&error) != 0 else { throw .failed("libdbus gave no reason") }
    throw BusError(ErrorName(trusted: String(cString: error.name)), String(cString: error.message))
}
