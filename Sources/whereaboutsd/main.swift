import EventLoop
import Glibc
import KeyFile

// The bus tells of a peer that has gone; a write to its socket need not.
signal(SIGPIPE, SIG_IGN)
// Whoever ignores it has children that end without a word (waitpid(2), “Errors”).
signal(SIGCHLD, SIG_DFL)
// Where the machine is, and who may know, is in its memory.
ThisProcess.hideFromPeers()

do {
    let options = try Options(CommandLine.arguments)
    switch options.action {
    case .help:
        print(Options.help)
    case .version:
        print(Version.current)
    case .check:
        exit(Configuration.check(options))
    case .serve:
        exit(EventLoop.shared.run { await Daemon(options).start() })
    }
} catch {
    Log.error("\(error)")
    exit(2)
}
