import DBus
import EventLoop
import LocationSources

/// Makes what sources ask others through: nothing of it before the first source that does.
@ServiceActor
final class LookupFactory {
    private let connection: Connection
    private let clock: any Clock
    private var chains: [[String]: ProviderChain] = [:]
    private var process: LookupProcess?

    private(set) lazy var network = NetworkMonitor(connection: connection, clock: clock)
    private(set) lazy var userAgent = UserAgent.text(version: Version.current)

    init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

    var transport: LookupProcess {
        if let process { return process }
        let made = LookupProcess(
            socket: LookupProcess.systemSocket, program: LookupProcess.installedProgram, clock: clock)
        process = made
        return made
    }

    /// The one chain of these addresses, the preferred one first.
    func chain(of providers: [String]) -> ProviderChain {
        if let chain = chains[providers] { return chain }
        let chain = ProviderChain(
            providers: providers.compactMap { LookupProvider($0) }, transport: transport, network: network,
            userAgent: userAgent, clock: clock)
        chains[providers] = chain
        return chain
    }

    /// Lets go of all chains but these.
    func keep(_ wanted: Set<[String]>) { chains = chains.filter { wanted.contains($0.key) } }

    /// Ends the process that asks, and with it all questions.
    func end() { process?.end() }

    func forget() { chains.values.forEach { $0.forget() } }
}
