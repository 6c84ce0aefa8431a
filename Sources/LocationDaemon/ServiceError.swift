import Authorization
import DBus

/// Why the service refuses a method call.
package enum ServiceError: Error, Equatable, Sendable {
    /// The object belongs to another connection.
    case notOwner
    case denied(Denial)
    case invalidDesktopID(ApplicationIdentity.ClaimError)
    case desktopIDTooLong(limit: Int)
    /// The row is for callers outside of any sandbox.
    case sandboxed
    case agentRefused(AgentRefusal)
    case tooManyClients(limit: Int)
    /// The administrator does not let the caller do this.
    case notAuthorized(action: String)
    /// A person would have to be asked, and the caller has not said that this may be done.
    case interactionRequired(action: String)
    /// No application has such a key.
    case invalidKey
    case tooManyRecords(limit: Int)
    /// The change has taken effect, and will not outlive the service.
    case notKept(StoreFault)
    /// The caller has left the bus while its call was being dealt with.
    case callerGone
}

extension ServiceError: BusErrorConvertible {
    package var busError: BusError { BusError(busName, message) }

    /// The D-Bus error name the caller receives.
    package var busName: ErrorName {
        switch self {
        case .notOwner, .sandboxed, .invalidDesktopID(.missing): "org.freedesktop.DBus.Error.AccessDenied"
        case .denied(.tooManyQuestions), .denied(.tooManyQuestionsOfAll), .denied(.tooManyRecords):
            "org.freedesktop.DBus.Error.LimitsExceeded"
        case .denied: "org.freedesktop.DBus.Error.AccessDenied"
        case .invalidDesktopID: "org.freedesktop.DBus.Error.InvalidArgs"
        case .agentRefused(.tooMany): "org.freedesktop.DBus.Error.LimitsExceeded"
        case .agentRefused: "org.freedesktop.DBus.Error.AccessDenied"
        case .tooManyClients, .desktopIDTooLong: "org.freedesktop.DBus.Error.LimitsExceeded"
        case .notAuthorized: "org.freedesktop.DBus.Error.AccessDenied"
        case .interactionRequired: "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
        case .invalidKey: "org.freedesktop.DBus.Error.InvalidArgs"
        case .tooManyRecords: "org.freedesktop.DBus.Error.LimitsExceeded"
        case .notKept: "org.freedesktop.DBus.Error.IOError"
        case .callerGone: "org.freedesktop.DBus.Error.Disconnected"
        }
    }

    private var message: String {
        switch self {
        case .notOwner: "Access denied"
        case .denied(let denial): denial.message
        case .invalidDesktopID(let error): error.message
        case .desktopIDTooLong(let limit): "'DesktopId' may have at most \(limit) bytes"
        case .sandboxed: "not allowed from inside a sandbox"
        case .agentRefused(let refusal): refusal.message
        case .tooManyClients(let limit): "no more than \(limit) clients are allowed"
        case .notAuthorized(let action): "the records of other users take the authorization \(action)"
        case .interactionRequired(let action): "\(action) takes a password; call again with interactive authorization"
        case .invalidKey:
            "“app” is none of flatpak:ID, snap:NAME, host:ID, claimed:ID, unknown:ID, or * for the user's own switch"
        case .tooManyRecords(let limit): "no more than \(limit) records of this kind are kept for one user"
        case .notKept(let fault): "done, but only until the service stops: \(fault)"
        case .callerGone: "the caller has left the bus"
        }
    }
}
