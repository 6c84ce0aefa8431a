import DBus
import EventLoop
import Glibc

let usage = """
    Usage: whereabouts watch [--bus BUS]
    Shows where the machine is, and goes on showing it as it moves.

      --bus BUS    system (default), session, or a D-Bus address
      --help       print this

    """

/// The bus that the arguments name; `nil` where they make no sense.
func busAddress(_ arguments: [String]) -> BusAddress? {
    switch arguments {
    case ["watch"]: .system
    case let words where words.count == 3 && words.prefix(2) == ["watch", "--bus"]: BusAddress(words[2])
    default: nil
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains("--help") {
    print(usage, terminator: "")
} else if let address = busAddress(arguments) {
    exit(EventLoop.shared.run { await Watch(address).run() })
} else {
    Terminal.complain(usage)
    exit(2)
}
