import DBusTestSupport
import EventLoop
import Foundation

/// A program that serves on a port of this machine, and may be stopped: a lookup service, a gpsd, a receiver.
@ServiceActor
final class NetworkServer {
    enum Kind: String { case lookup, gpsd, nmea }

    enum Manner: String { case works, floods, refuses }

    let address: String
    private let program: ChildProgram

    init(_ kind: Kind, _ manner: Manner) async throws {
        program = try ChildProgram("/usr/bin/python3", ["-c", Self.script, kind.rawValue, manner.rawValue])
        let line = try await program.output.next(containing: "PORT")
        address = "127.0.0.1:\(line.dropFirst(5))"
    }

    func pause() { program.send(signal: SIGSTOP) }

    func resume() { program.send(signal: SIGCONT) }

    /// Works from now on.
    func recover() { program.send(signal: SIGUSR1) }

    private static let script = """
        import signal, socket, sys, threading
        kind, manner = sys.argv[1:]
        works = threading.Event()
        if manner == "works": works.set()
        noise = {
            "lookup": b"HTTP/1.1 200 OK\\r\\n\\r\\n" + b" " * 65536,
            "gpsd": b'{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}\\n'
                + b'{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"}]}\\n'
                + b'{"class":"TPV","device":"/dev/a","mode":1}\\nnonsense\\n' * 500,
            "nmea": b"$GPGLL,,,,,,V,N*64\\r\\nnonsense\\n" * 500,
        }[kind]
        body = b'{"location":{"lat":48.1,"lng":11.5},"accuracy":25000}'
        def serve(peer):
            try:
                if kind == "lookup": peer.recv(65536)
                while not works.is_set(): peer.sendall(noise)
                if kind == "lookup":
                    peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                    peer.close()
                else:
                    peer.recv(65536)
            except OSError: pass
        server = socket.socket()
        server.bind(("127.0.0.1", 0))
        def recover():
            signal.sigwait([signal.SIGUSR1])
            works.set()
            if manner == "refuses": server.listen()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        if manner != "refuses": server.listen()
        print("PORT", server.getsockname()[1], flush=True)
        if manner == "refuses": recover()
        else: threading.Thread(target=recover, daemon=True).start()
        while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """
}
