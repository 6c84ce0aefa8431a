import LocationSources

/// Whoever listens on gpsd's port may send anything.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzGPSD(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
