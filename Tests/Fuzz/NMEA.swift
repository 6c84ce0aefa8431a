import LocationSources

/// A receiver sends noise while it starts, and whatever its socket's owner likes afterwards.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzNMEA(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
