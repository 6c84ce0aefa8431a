import Glibc

let help = """
    Usage: whereabouts-lookup [OPTION]
    Asks lookup services where the machine is, on behalf of whereaboutsd: reads requests from standard input, one a line,
    and writes their answers to standard output; or does so for each connection to a socket that systemd passes.

      --version    print the version
      --help       print this
    """

switch CommandLine.arguments.dropFirst().first {
case nil: break
case "--version":
    print(Version.current)
    exit(0)
case "--help":
    print(help)
    exit(0)
case let unknown?:
    Report.error("unknown argument: \(unknown); see --help")
    exit(2)
}

// Whoever asked may be gone.
signal(SIGPIPE, SIG_IGN)
Confinement.enter().forEach(Report.warning)
do {
    exit(try Service(listener: Service.passedSocket()).run())
} catch {
    Report.error("\(error)")
    exit(1)
}
