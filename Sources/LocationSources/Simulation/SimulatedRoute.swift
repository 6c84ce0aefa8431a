import Geolocation
import Glibc

/// A closed drive with the motion of a car: curves taken slowly, speed limits kept, stops at lights.
///
/// The path is a Catmull-Rom spline through the waypoints; along it the car accelerates and brakes evenly.
package struct SimulatedRoute: Sendable {
    /// Where the drive passes, and how.
    package struct Waypoint: Sendable {
        package let coordinate: Coordinate
        /// Metres above mean sea level.
        package let height: Double
        /// Speed limit from here on, in m/s.
        package let limit: Double
        /// Seconds of standing here, at a light.
        package let stop: Double

        package init(_ coordinate: Coordinate, height: Double, limit: Double, stop: Double = 0) {
            self.coordinate = coordinate
            self.height = height
            self.limit = limit
            self.stop = stop
        }
    }

    /// The car at one moment.
    package struct State: Sendable, Equatable {
        package let coordinate: Coordinate
        /// Metres above mean sea level.
        package let height: Double
        /// Metres per second.
        package let speed: Double
        /// Degrees from true north, 0 ..< 360.
        package let heading: Double
    }

    /// How long one lap takes, in seconds.
    package let duration: Double
    /// How long one lap is, in metres.
    package let length: Double

    private let origin: Coordinate
    private let nodes: [Node]

    /// A point of the path with the time at which the car leaves it.
    private struct Node {
        var x, y, height: Double
        /// Direction of the path, in radians from north.
        var heading = 0.0
        var limit: Double
        var stop: Double
        var speed = 0.0
        var toNext = 0.0
        var arrival = 0.0
    }

    /// Both what drivers do and what keeps passengers comfortable, in m/s².
    private static let acceleration = 1.5
    private static let sideways = 2.0

    /// Nodes from one waypoint to the next.
    private static let nodesPerLeg = 8

    /// Metres in a degree of latitude, on a sphere of 6371 km.
    private static let metresPerDegree = 6_371_000 * Double.pi / 180

    /// - Parameter waypoints: at least three, in the order of the drive; the last leg leads back to the first.
    package init(_ waypoints: [Waypoint]) {
        precondition(waypoints.count >= 3, "a loop has three corners at least")
        origin = waypoints[0].coordinate
        var nodes = Self.path(waypoints, around: origin)
        Self.setSpeeds(&nodes)
        Self.setTimes(&nodes)
        let last = nodes[nodes.count - 1]
        duration = last.arrival + last.stop + Self.time(last, nodes[0].speed)
        length = nodes.reduce(0) { $0 + $1.toNext }
        self.nodes = nodes
    }

    /// The car `offset` seconds after it has first reached the first waypoint, on any lap.
    package func state(at offset: Double) -> State {
        let moment = offset - (offset / duration).rounded(.down) * duration
        let index = (nodes.partitioningIndex { $0.arrival > moment }) - 1
        let from = nodes[max(index, 0)]
        let to = nodes[(max(index, 0) + 1) % nodes.count]
        let driven = max(0, moment - from.arrival - from.stop)
        let rate = from.toNext > 0 ? (to.speed * to.speed - from.speed * from.speed) / (2 * from.toNext) : 0
        let way = min(from.speed * driven + rate * driven * driven / 2, from.toNext)
        let share = from.toNext > 0 ? way / from.toNext : 0
        let turn = remainder(to.heading - from.heading, 2 * .pi)
        let degrees = (from.heading + turn * share) * 180 / .pi
        return State(
            coordinate: coordinate(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share),
            height: from.height + (to.height - from.height) * share, speed: max(0, from.speed + rate * driven),
            heading: (degrees + 720).truncatingRemainder(dividingBy: 360))
    }

    private func coordinate(x: Double, y: Double) -> Coordinate {
        let latitude = origin.latitude + y / Self.metresPerDegree
        let longitude = origin.longitude + x / (Self.metresPerDegree * cos(origin.latitude * .pi / 180))
        // Waypoints are coordinates themselves, and the spline leaves them by metres.
        return Coordinate(latitude: latitude, longitude: longitude) ?? origin
    }

    // MARK: Building

    private static func path(_ waypoints: [Waypoint], around origin: Coordinate) -> [Node] {
        let scale = metresPerDegree * cos(origin.latitude * .pi / 180)
        let corners = waypoints.map {
            (
                x: ($0.coordinate.longitude - origin.longitude) * scale,
                y: ($0.coordinate.latitude - origin.latitude) * metresPerDegree, height: $0.height
            )
        }
        let count = corners.count
        var nodes: [Node] = []
        for index in 0..<count {
            let around = (-1...2).map { corners[(index + $0 + count) % count] }
            for step in 0..<nodesPerLeg {
                let share = Double(step) / Double(nodesPerLeg)
                nodes.append(
                    Node(
                        x: spline(around.map(\.x), share), y: spline(around.map(\.y), share),
                        height: spline(around.map(\.height), share), limit: waypoints[index].limit,
                        stop: step == 0 ? waypoints[index].stop : 0))
            }
        }
        for index in nodes.indices {
            let (before, after) = (nodes[(index + nodes.count - 1) % nodes.count], nodes[(index + 1) % nodes.count])
            nodes[index].heading = atan2(after.x - before.x, after.y - before.y)
            nodes[index].toNext = hypot(after.x - nodes[index].x, after.y - nodes[index].y)
        }
        return nodes
    }

    /// The Catmull-Rom spline from the second of four values to the third.
    private static func spline(_ p: [Double], _ t: Double) -> Double {
        let linear = (p[2] - p[0]) * t
        let square = (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t * t
        let cube = (3 * p[1] - p[0] - 3 * p[2] + p[3]) * t * t * t
        return p[1] + (linear + square + cube) / 2
    }

    /// Gives each node the highest speed that its curve and limit allow and that can be reached and braked from.
    private static func setSpeeds(_ nodes: inout [Node]) {
        let count = nodes.count
        for index in nodes.indices {
            let turn = abs(remainder(nodes[(index + 1) % count].heading - nodes[index].heading, 2 * .pi))
            let curve = turn > 0 ? (sideways * nodes[index].toNext / turn).squareRoot() : .infinity
            nodes[index].speed = nodes[index].stop > 0 ? 0 : min(nodes[index].limit, curve)
        }
        // Twice around, so that the end of the lap sees what its beginning needs.
        for step in 0..<(2 * count) {
            let (from, to) = (step % count, (step + 1) % count)
            nodes[to].speed = min(nodes[to].speed, reachable(nodes[from].speed, nodes[from].toNext))
        }
        for step in (0..<(2 * count)).reversed() {
            let (from, to) = (step % count, (step + 1) % count)
            nodes[from].speed = min(nodes[from].speed, reachable(nodes[to].speed, nodes[from].toNext))
        }
    }

    private static func reachable(_ speed: Double, _ distance: Double) -> Double {
        (speed * speed + 2 * acceleration * distance).squareRoot()
    }

    private static func setTimes(_ nodes: inout [Node]) {
        for index in nodes.indices.dropFirst() {
            let before = nodes[index - 1]
            nodes[index].arrival = before.arrival + before.stop + time(before, nodes[index].speed)
        }
    }

    /// Seconds from a node to the next, at even acceleration.
    private static func time(_ node: Node, _ speedAtNext: Double) -> Double {
        node.toNext > 0 ? 2 * node.toNext / max(node.speed + speedAtNext, 0.1) : 0
    }
}

extension Array {
    /// The first index whose element fulfils `isAfter`, in an array where all that do come last.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
