import Glibc

extension Configuration {
    /// Reads `files` in order, each overruling single keys of those before it. Every one of them has to be there.
    package static func load(files: [String]) -> (Configuration, [ConfigurationFault]) {
        var reader = ConfigurationReader()
        for file in files { reader.read(document(of: file, isOptional: false)) }
        reader.finish()
        return (reader.configuration, reader.faults)
    }

    /// Reads GeoClue's files and then the service's own below `root`, as many of them as there are.
    package static func load(defaultsUnder root: String = "/") -> (Configuration, [ConfigurationFault]) {
        var reader = ConfigurationReader()
        let etc = (root.hasSuffix("/") ? root : root + "/") + "etc/"
        for main in ["geoclue/geoclue.conf", "whereabouts/whereabouts.conf"] {
            let file = etc + main
            reader.read(document(of: file, isOptional: true))
            let folder = file[...file.lastIndex(of: "/")!] + "conf.d"
            for document in dropIns(in: String(folder)) { reader.read(document) }
        }
        reader.finish()
        return (reader.configuration, reader.faults)
    }

    /// Reads configurations that are in memory already, as ``load(files:)`` does.
    package static func read(_ documents: [KeyFileDocument]) -> (Configuration, [ConfigurationFault]) {
        var reader = ConfigurationReader()
        for document in documents { reader.read(document) }
        reader.finish()
        return (reader.configuration, reader.faults)
    }
}

/// The `*.conf` of a folder in the order of their bytes.
private func dropIns(in folder: String) -> [KeyFileDocument] {
    guard let stream = opendir(folder) else {
        return errno == ENOENT ? [] : [faulty(folder, errno)]
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name.hasSuffix(".conf") && !name.hasPrefix(".") { names.append(name) }
    }
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return names.map { document(of: "\(folder)/\($0)", isOptional: true) }
}

private func document(of file: String, isOptional: Bool) -> KeyFileDocument {
    // Without waiting: a pipe that nobody writes to must not hold up the start.
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
        return isOptional && errno == ENOENT ? KeyFileDocument() : faulty(file, errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return faulty(file, errno) }
    // What a pipe holds now is not what it will hold at the next reading.
    guard status.st_mode & S_IFMT != S_IFIFO else { return faulty(file, EINVAL) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    var count = 0
    // One byte beyond the limit is enough for the reader to see that there is too much.
    while count <= KeyFileDocument.sizeLimit {
        if count == bytes.count { bytes += [UInt8](repeating: 0, count: bytes.count) }
        let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, $0.count - count) }
        if got < 0 && errno == EINTR { continue }
        guard got >= 0 else { return faulty(file, errno) }
        if got == 0 { break }
        count += got
    }
    return bytes.withUnsafeBytes { KeyFileDocument(UnsafeRawBufferPointer(rebasing: $0[..<count]), file: file) }
}

private func faulty(_ file: String, _ code: Int32) -> KeyFileDocument {
    var document = KeyFileDocument()
    document.faults = [ConfigurationFault(.unreadable(code), at: .init(file: file))]
    return document
}
