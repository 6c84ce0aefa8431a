/// Reads `bytes` as a route. Traps if a rule that holds for all input is broken.
package func fuzzRoute(_ bytes: UnsafeRawBufferPointer) {
    guard let route = try? Route(parsing: Array(bytes), file: "fuzz") else { return }
    precondition(!route.points.isEmpty && route.points[0].offset == .zero)
    for (point, next) in zip(route.points, route.points.dropFirst()) { precondition(point.offset < next.offset) }
    for point in route.points {
        precondition(point.speed.map { $0 >= 0 && $0.isFinite } ?? true)
        precondition(point.heading.map { (0..<360).contains($0) } ?? true)
        precondition(point.horizontalAccuracy.map { $0 >= 0 && $0.isFinite } ?? true)
    }
}
