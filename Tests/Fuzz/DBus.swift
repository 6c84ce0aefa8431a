import DBus

/// Any peer sends messages of any shape, and a value that libdbus does not like would end the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    fuzzDBusValue(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
