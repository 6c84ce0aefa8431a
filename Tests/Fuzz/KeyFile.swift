import KeyFile

/// Configuration files are written by people and programs; whatever is in one, the service has to start.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzKeyFile(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
