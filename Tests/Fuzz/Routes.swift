import Routes

/// A route is a file from anywhere.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzRoute(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
