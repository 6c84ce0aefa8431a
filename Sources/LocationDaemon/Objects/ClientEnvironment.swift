import Authorization
import DBus
import EventLoop
import Geolocation

/// What every client needs of the service around it.
@ServiceActor
struct ClientEnvironment {
    let connection: Connection
    let authorizer: Authorizer
    let sessions: SessionDirectory
    let clock: any Clock
    /// What a client of a user that starts now may be told at once, before the next fix.
    let startingPosition: @ServiceActor (UInt32) -> Position
    /// Called with the number of a client that has come or gone, become active or inactive, or wants something else.
    let clientChanged: @ServiceActor (UInt64) -> Void
    /// Called when a client could not be told of a position, the bus being congested.
    let deliveryMissed: @ServiceActor () -> Void
    /// Called when a location object has been replaced and will have to go.
    let locationReplaced: @ServiceActor () -> Void
}
