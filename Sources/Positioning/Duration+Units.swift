extension Duration {
    /// In seconds.
    var seconds: Double { self / .seconds(1) }

    /// Whole microseconds, rounded towards zero.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
