import NMEA

/// Receivers lie, stutter and change their baud rate: any bytes may come.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzNMEA(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
