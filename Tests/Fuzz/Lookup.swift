import LookupProtocol

/// Either side of the lookup protocol may have been taken over by somebody.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzLookup(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
