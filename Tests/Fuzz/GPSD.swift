import LocationSources

/// What listens at gpsd's port need not be gpsd.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzGPSD(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
