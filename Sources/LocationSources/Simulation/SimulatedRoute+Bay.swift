import Geolocation

extension SimulatedRoute {
    /// A drive around an invented bay: the shore road, a town with lights, a hill. There is open sea in its place.
    package static let bay = SimulatedRoute([
        Waypoint(58.42967, 9.23500, height: 4, limit: 14),
        Waypoint(58.43052, 9.24256, height: 4, limit: 14),
        Waypoint(58.43017, 9.25021, height: 5, limit: 22),
        Waypoint(58.42745, 9.25529, height: 6, limit: 22),
        Waypoint(58.42456, 9.25852, height: 7, limit: 22),
        Waypoint(58.42172, 9.26005, height: 9, limit: 22),
        Waypoint(58.41904, 9.25999, height: 11, limit: 22),
        Waypoint(58.41747, 9.26267, height: 12, limit: 22),
        Waypoint(58.41589, 9.26588, height: 13, limit: 22),
        Waypoint(58.41410, 9.26922, height: 12, limit: 22),
        Waypoint(58.41200, 9.26821, height: 11, limit: 22),
        Waypoint(58.40999, 9.26766, height: 9, limit: 22),
        Waypoint(58.40839, 9.26367, height: 7, limit: 22),
        Waypoint(58.40674, 9.26159, height: 6, limit: 14),
        Waypoint(58.40569, 9.25739, height: 5, limit: 14),
        Waypoint(58.40504, 9.25293, height: 4, limit: 14),
        Waypoint(58.40269, 9.25244, height: 4, limit: 14),
        Waypoint(58.40107, 9.24935, height: 4, limit: 9),
        Waypoint(58.40001, 9.24504, height: 4, limit: 9),
        Waypoint(58.39905, 9.24029, height: 4, limit: 9, stop: 12),
        Waypoint(58.39895, 9.23500, height: 4, limit: 9),
        Waypoint(58.39853, 9.22950, height: 4, limit: 9),
        Waypoint(58.39724, 9.22264, height: 4, limit: 9, stop: 25),
        Waypoint(58.39725, 9.21563, height: 4, limit: 9),
        Waypoint(58.39721, 9.20730, height: 4, limit: 9),
        Waypoint(58.39841, 9.19998, height: 4, limit: 9, stop: 18),
        Waypoint(58.40108, 9.19625, height: 4, limit: 9),
        Waypoint(58.40410, 9.19503, height: 4, limit: 9),
        Waypoint(58.40747, 9.19908, height: 5, limit: 14),
        Waypoint(58.41010, 9.20400, height: 6, limit: 14),
        Waypoint(58.41200, 9.21098, height: 10, limit: 14, stop: 9),
        Waypoint(58.41326, 9.21446, height: 18, limit: 22),
        Waypoint(58.41436, 9.21630, height: 28, limit: 22),
        Waypoint(58.41582, 9.21566, height: 38, limit: 22),
        Waypoint(58.41738, 9.21590, height: 42, limit: 22),
        Waypoint(58.41909, 9.21672, height: 38, limit: 22),
        Waypoint(58.42176, 9.21672, height: 28, limit: 22),
        Waypoint(58.42390, 9.21937, height: 18, limit: 22),
        Waypoint(58.42603, 9.22325, height: 10, limit: 14, stop: 15),
        Waypoint(58.42817, 9.22840, height: 6, limit: 14),
    ])
}

extension SimulatedRoute.Waypoint {
    fileprivate init(_ latitude: Double, _ longitude: Double, height: Double, limit: Double, stop: Double = 0) {
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            preconditionFailure("the table above holds coordinates")
        }
        self.init(coordinate, height: height, limit: limit, stop: stop)
    }
}
