internal import CCurl
import Glibc
import LookupProtocol

/// One HTTP request, from its making to its answer.
final class Transfer {
    /// Why a request is not even tried.
    enum Refusal: Error { case badAddress, notSecure, noMemory }

    /// What the head of an answer may hold, in bytes.
    private static let headLimit = 64 << 10

    let id: UInt32
    let handle: UnsafeMutableRawPointer
    private let address: OpaquePointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var body: [UInt8] = []
    private var headSize = 0
    private var isTooLong = false

    init(_ line: RequestLine) throws(Refusal) {
        id = line.id
        address = try Self.parse(line.request.url)
        guard let handle = curl_easy_init() else {
            curl_url_cleanup(address)
            throw .noMemory
        }
        self.handle = handle
        for header in ["Content-Type: application/json", "Accept: application/json"] {
            headers = curl_slist_append(headers, header)
        }
        if let name = line.request.nickname { headers = curl_slist_append(headers, "X-Nickname: \(name)") }
        setAddress()
        setSecurity()
        setContent(line.request)
        setReceivers()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        curl_url_cleanup(address)
    }

    /// What the transfer came to.
    func outcome(_ result: CURLcode) -> LookupOutcome {
        if isTooLong { return .failed(reason: "the answer is too long") }
        // Of libcurl's two texts this is the one without host names.
        guard result == CURLE_OK else { return .failed(reason: String(cString: curl_easy_strerror(result))) }
        var status = 0
        curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        var wait: curl_off_t = 0
        curl_get_offset(handle, CURLINFO_RETRY_AFTER, &wait)
        return .answered(
            .init(status: status, retryAfter: wait > 0 ? UInt32(clamping: wait) : nil, body: body))
    }

    /// Reads the address once, for the rules here and for the transfer.
    private static func parse(_ text: String) throws(Refusal) -> OpaquePointer {
        guard let address = curl_url() else { throw .noMemory }
        let isGood = curl_url_set(address, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK
        let scheme = part(of: address, CURLUPART_SCHEME)
        let isHTTP = scheme == "https" || scheme == "http"
        guard isGood, isHTTP, scheme == "https" || isLoopback(address) else {
            curl_url_cleanup(address)
            throw isGood && isHTTP ? .notSecure : .badAddress
        }
        return address
    }

    private static func part(of address: OpaquePointer, _ part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(address, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// libcurl asks nobody where `localhost` is, and has brought addresses in digits into their usual form.
    private static func isLoopback(_ address: OpaquePointer) -> Bool {
        guard let host = part(of: address, CURLUPART_HOST) else { return false }
        var digits = in_addr()
        let isLoopbackV4 = inet_pton(AF_INET, host, &digits) == 1 && UInt32(bigEndian: digits.s_addr) >> 24 == 127
        return isLoopbackV4 || host == "localhost" || host == "[::1]"
    }

    private func setAddress() {
        curl_set_pointer(handle, CURLOPT_CURLU, UnsafeRawPointer(address))
        // What stays on the machine goes to no proxy; anything else goes where the environment says.
        if Self.isLoopback(address) { curl_set_string(handle, CURLOPT_PROXY, "") }
        curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        // Nobody gets what was meant for another; whoever has moved has to be written anew in the configuration.
        curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        let limit = Int(LookupLimits.time.components.seconds) * 1000
        curl_set_long(handle, CURLOPT_TIMEOUT_MS, limit)
        curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, limit)
        curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        // A thread that waits for a name server is left to itself when the time is over.
        curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    }

    private func setSecurity() {
        curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1)
        curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
        curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = getenv("SSL_CERT_FILE") { curl_set_string(handle, CURLOPT_CAINFO, file) }
    }

    private func setContent(_ request: LookupRequest) {
        curl_set_long(handle, CURLOPT_POSTFIELDSIZE, request.body.count)
        curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, request.body)
        curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
        curl_set_string(handle, CURLOPT_USERAGENT, request.userAgent)
    }

    private func setReceivers() {
        let this = Unmanaged.passUnretained(self).toOpaque()
        curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        curl_set_pointer(handle, CURLOPT_HEADERDATA, this)
        curl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { _, size, count, this in
            Unmanaged<Transfer>.fromOpaque(this!).takeUnretainedValue().receiveHead(size * count)
        }
        curl_set_pointer(handle, CURLOPT_WRITEDATA, this)
        curl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            Unmanaged<Transfer>.fromOpaque(this!).takeUnretainedValue().receive(
                UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    /// - Returns: how much was taken. Less than came ends the transfer.
    private func receiveHead(_ count: Int) -> Int {
        headSize += count
        isTooLong = isTooLong || headSize > Self.headLimit
        return isTooLong ? 0 : count
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        isTooLong = isTooLong || body.count + bytes.count > LookupLimits.answerBody
        guard !isTooLong else { return 0 }
        body.append(contentsOf: bytes)
        return bytes.count
    }
}

extension Transfer.Refusal {
    var reason: String {
        switch self {
        case .badAddress: "not an HTTP address"
        case .notSecure: "plain HTTP leaves the machine"
        case .noMemory: "no memory"
        }
    }
}
