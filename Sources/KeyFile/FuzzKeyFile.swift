/// Takes any bytes through everything that a configuration file goes through; what comes out does not matter.
package func fuzzKeyFile(_ bytes: UnsafeRawBufferPointer) {
    let (_, faults) = Configuration.read([KeyFileDocument(bytes, file: "fuzz.conf")])
    for fault in faults { _ = fault.description.utf8.count + fault.logLine.utf8.count }
}
