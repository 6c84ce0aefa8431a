// The variables of getopt are the C library's, and this is the one thread there is when they are used.
@preconcurrency internal import CGetopt
import Glibc

/// What the command line says.
struct Options {
    enum Action { case serve, check, version, help }

    /// What is wrong with a command line.
    enum Fault: Error, CustomStringConvertible {
        case unknownOption(String)
        case unexpectedArgument(String)
        case notANumber(option: String, value: String)

        var description: String {
            switch self {
            case .unknownOption(let text): "unknown option or missing value: \(text); see --help"
            case .unexpectedArgument(let text): "unexpected argument: \(text); see --help"
            case .notANumber(let option, let value): "\(option): “\(value)” is not a whole number of seconds"
            }
        }
    }

    var action = Action.serve
    var bus = "system"
    /// Replaces all configuration files.
    var configurationFile: String?
    var stateDirectory: String?
    /// Seconds without clients before the service leaves; 0 or less for never.
    var idleSeconds = 60
    var ownsGeoClueName = true
    var isSimulating = false
    var isVerbose = false
    var submitsData = false
    var submissionNick: String?
    var nmeaSocket: String?

    static let help = """
        Usage: whereaboutsd [OPTION]...
        The location service: owns org.freedesktop.GeoClue2 and tells applications where the machine is.

          --bus BUS                system (default), session, or a D-Bus address
          --config FILE            read FILE instead of the files in /etc
          --state-directory DIR    keep decisions in DIR (default: $STATE_DIRECTORY, /var/lib/whereabouts)
          -t, --timeout SECONDS    leave after SECONDS without clients (default 60; 0: never)
          --no-geoclue-name        leave the name org.freedesktop.GeoClue2 alone
          --simulate               play a built-in drive instead of using receivers
          -u, --nmea-socket PATH   read NMEA sentences from a Unix socket
          -s, --submit-data        help to improve the lookup service
          -n, --submit-nick NICK   the name to do so under
          --check                  read the configuration, name its faults, and leave
          --debug                  log more
          --version                print the version
          -h, --help               print this
        """

    init(_ arguments: [String]) throws(Fault) {
        let table = OptionTable()
        defer { table.free() }
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { Glibc.free($0) } }
        opterr = 0
        optind = 1
        while true {
            let code = getopt_long(Int32(arguments.count), &pointers, ":t:u:sn:h", table.entries, nil)
            guard code != -1 else { break }
            let value = optarg.map { String(cString: $0) } ?? ""
            guard let option = Option(code) else {
                throw .unknownOption(arguments[min(Int(optind) - 1, arguments.count - 1)])
            }
            try apply(option, value)
        }
        if Int(optind) < arguments.count { throw .unexpectedArgument(arguments[Int(optind)]) }
    }

    private mutating func apply(_ option: Option, _ value: String) throws(Fault) {
        switch option {
        case .bus: bus = value
        case .config: configurationFile = value
        case .stateDirectory: stateDirectory = value
        case .timeout:
            guard let seconds = Int(value) else { throw .notANumber(option: "--timeout", value: value) }
            idleSeconds = seconds
        case .noGeoClueName: ownsGeoClueName = false
        case .simulate: isSimulating = true
        case .nmeaSocket: nmeaSocket = value
        case .submitData: submitsData = true
        case .submitNick: submissionNick = value
        case .check: action = .check
        case .debug: isVerbose = true
        case .version: action = .version
        case .help: action = .help
        }
    }
}

/// The options by their long names; the short ones are GeoClue's.
private enum Option: String, CaseIterable {
    case bus, config
    case stateDirectory = "state-directory"
    case timeout
    case noGeoClueName = "no-geoclue-name"
    case simulate
    case nmeaSocket = "nmea-socket"
    case submitData = "submit-data"
    case submitNick = "submit-nick"
    case check, debug, version, help

    private var short: Character? {
        switch self {
        case .timeout: "t"
        case .nmeaSocket: "u"
        case .submitData: "s"
        case .submitNick: "n"
        case .help: "h"
        default: nil
        }
    }

    /// What getopt returns for it: the short option's character, or a number beyond all characters.
    var code: Int32 { short?.asciiValue.map(Int32.init) ?? 256 + Int32(Self.allCases.firstIndex(of: self)!) }

    var takesValue: Bool {
        switch self {
        case .bus, .config, .stateDirectory, .timeout, .nmeaSocket, .submitNick: true
        case .noGeoClueName, .simulate, .submitData, .check, .debug, .version, .help: false
        }
    }

    init?(_ code: Int32) {
        guard let option = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = option
    }
}

/// The options in the form that getopt_long takes.
private struct OptionTable {
    let entries: UnsafeMutablePointer<option>

    init() {
        entries = .allocate(capacity: Option.allCases.count + 1)
        for (index, each) in Option.allCases.enumerated() {
            (entries + index).initialize(
                to: option(
                    name: strdup(each.rawValue), has_arg: each.takesValue ? required_argument : no_argument, flag: nil,
                    val: each.code))
        }
        (entries + Option.allCases.count).initialize(to: option())
    }

    func free() {
        for index in Option.allCases.indices { Glibc.free(UnsafeMutablePointer(mutating: entries[index].name)) }
        entries.deallocate()
    }
}
