import PawlHTTP

/// Builds a request head, or a trailer section, from the fields of one header block, by the same rules as ``RequestParser`` for
/// HTTP/1.1. One header block arrives at a time (RFC 9113 §4.3), so one reader with its buffers serves a whole connection.
/// nghttp2 has checked that names are in lower case and values without control characters.
struct HTTP2HeadReader {
  /// The bytes at the start of `storage`: padding for ``KnownFieldNames``, which reads eight bytes up to the end of a name, and
  /// the name of a `host` line.
  private static let prefix: [UInt8] = Array("    host".utf8)
  private static let hostName = 4..<8

  enum Step: Hashable { case goOn, flood }

  private let limits: HeadLimits
  private let trailerLimits: ChunkLimits
  private let maxWork: Int, maxWorkFields: Int
  private let isSecure: Bool
  private let names = KnownFieldNames.shared

  private var storage: [UInt8] = []
  private var lines: [FieldLine] = []
  private var method = 0..<0, path = 0..<0, scheme = 0..<0
  private var authority: Range<Int>?, `protocol`: Range<Int>?
  private var seen = FramingFields()
  private var present = FieldNameSet()
  private let special = FieldNameSet.specialOverHTTP2
  private var cookies = 0
  private var refusal: RequestRefusal?
  private var isTrailers = false
  /// The size of all fields as HTTP/1.1 lines, including dropped ones, and the number of field lines.
  private var size = 0, fieldCount = 0

  init(_ settings: HTTP2Settings) {
    (limits, trailerLimits, isSecure) = (settings.head, settings.trailers, settings.isSecure)
    (maxWork, maxWorkFields) = (settings.maxBlock, settings.maxBlockFields)
  }

  mutating func begin(trailers: Bool) {
    // Large heads are rare, so their buffers are not kept.
    if storage.count > 4 << 10 { storage = [] }
    storage.removeAll(keepingCapacity: true)
    storage.append(contentsOf: Self.prefix)
    lines.removeAll(keepingCapacity: true)
    (method, path, scheme, authority, `protocol`) = (0..<0, 0..<0, 0..<0, nil, nil)
    (seen, cookies, refusal, isTrailers) = (FramingFields(), 0, nil, trailers)
    present = FieldNameSet()
    (size, fieldCount) = (0, 0)
  }

  /// Takes one field, in the order of the block. `.flood`: the block is far beyond the limits, and its rest should not be
  /// decoded.
  mutating func take(name: Span<UInt8>, value: Span<UInt8>) -> Step {
    size += name.count + value.count + 4
    let isPseudo = name.count > 0 && name[0] == Byte.colon
    if !isPseudo { fieldCount += 1 }
    guard size <= maxWork, fieldCount <= maxWorkFields else { return .flood }
    guard refusal == nil else { return .goOn }
    let (maxSize, maxFields) =
      isTrailers ? (trailerLimits.trailer, trailerLimits.trailerFields) : (limits.maxHead, limits.maxFields)
    guard size <= maxSize else {
      refusal = isPseudo ? Self.lineTooLong : RequestRefusal(431, "The header section is too large.")
      return .goOn
    }
    // Cookies that a browser splits into several fields count as one field (RFC 9113 §8.2.3).
    guard fieldCount - max(0, cookies - 1) <= maxFields else {
      refusal = RequestRefusal(431, "There are too many field lines.")
      return .goOn
    }
    if isPseudo { takePseudo(name, value) } else { takeField(name, value) }
    return .goOn
  }

  private static var lineTooLong: RequestRefusal { RequestRefusal(414, "The request line is too long.") }

  private mutating func takePseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    let range = append(value)
    let all = 0..<name.count
    if name.equals(all, ":method") {
      method = range
    } else if name.equals(all, ":path") {
      path = range
    } else if name.equals(all, ":scheme") {
      scheme = range
    } else if name.equals(all, ":authority") {
      authority = range
    } else if name.equals(all, ":protocol") {
      `protocol` = range
    }
  }

  private mutating func takeField(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    let nameRange = append(name)
    let known = names.find(storage.span, nameRange)
    switch known {
    case .other:
      guard name.first(0x5f, from: 0, to: name.count) == nil else {
        storage.removeLast(name.count)
        return
      }
    case .cookie: cookies += 1
    default: break
    }
    let valueRange = append(value)
    seen.note(known, valueRange)
    present.insert(known)
    lines.append(FieldLine(name: known, nameRange: nameRange, valueRange: valueRange))
  }

  private mutating func append(_ bytes: Span<UInt8>) -> Range<Int> {
    let start = storage.count
    bytes.withUnsafeBufferPointer { storage.append(contentsOf: $0) }
    return start..<storage.count
  }

  // MARK: Results

  /// Whether the head, if no content follows, requests a representation without conditions or ranges by GET. Mutating, because
  /// otherwise the session would copy the complete reader, which takes 300 instructions per request (measured).
  var isPlain: Bool {
    mutating get {
      refusal == nil && present.isDisjoint(with: special) && `protocol` == nil && method.count == 3
        && storage.span.equals(method, "GET")
    }
  }

  /// The parts of a head for which ``isPlain`` is true; `nil` when it has several `X-Request-Id` fields.
  mutating func plainGet() throws(RequestRefusal) -> HTTP2PlainGet? {
    if let refusal { throw refusal }
    try checkTarget()
    let authority = try site()
    var requestID: Range<Int>?
    if present.contains(.xRequestID) {
      for line in lines where line.name == .xRequestID {
        guard requestID == nil else { return nil }
        requestID = line.valueRange
      }
    }
    return HTTP2PlainGet(
      bytes: storage, lines: lines, authority: authority, target: path, requestID: requestID, hasCookie: cookies > 0,
      namesScheme: !present.isDisjoint(with: .namingScheme))
  }

  /// Returns the request; `isEnd`: whether no content follows.
  mutating func request(isEnd: Bool) throws(RequestRefusal) -> HTTP2Request {
    if let refusal { throw refusal }
    try checkTarget()
    let authority = try site()
    let framing = try framing(isEnd: isEnd)
    try checkExpectation()
    joinCookies()
    lines.removeAll { $0.name == .host }
    lines.append(FieldLine(name: .host, nameRange: Self.hostName, valueRange: authority))
    let bytes = Array(storage)
    let head = RequestHead(
      method: Self.method(bytes[method]), target: bytes[path], authority: bytes[authority], version: .http2,
      fields: Fields(storage: bytes, lines: lines), framing: framing)
    return HTTP2Request(head: head, protocol: `protocol`.map { bytes[$0] })
  }

  /// What was read of a request that is refused.
  var refused: RefusedHead {
    RefusedHead(
      method: Bytes(storage[method]), target: Bytes(storage[path.isEmpty ? authority ?? path : path]),
      host: (authority ?? seen.host).map { Bytes(storage[$0]) } ?? [])
  }

  /// The trailers that have a meaning after the content; `nil` when they exceed the limits.
  func trailers() -> Fields? {
    guard refusal == nil else { return nil }
    var fields = Fields()
    for line in lines where TrailerSection.keeps(line.name) { fields.append(line.name, storage[line.valueRange]) }
    return fields
  }

  /// Checks method, target and scheme like ``RequestParser``.
  private func checkTarget() throws(RequestRefusal) {
    let bytes = storage.span
    guard method.count <= limits.maxMethod else { throw RequestRefusal(501, "The method is too long.") }
    guard method.count + path.count + " HTTP/1.1 ".utf8.count <= limits.maxRequestLine else { throw Self.lineTooLong }
    guard !method.isEmpty,
      bytes.firstOutside(.token, from: method.lowerBound, to: method.upperBound) == method.upperBound
    else { throw RequestRefusal(400, "The method is not a token.") }
    if bytes.equals(method, "CONNECT") {
      guard let `protocol` else { throw RequestRefusal(405, "This is a reverse proxy; it opens no tunnels.") }
      guard bytes.firstOutside(.token, from: `protocol`.lowerBound, to: `protocol`.upperBound) == `protocol`.upperBound
      else { throw RequestRefusal(400, "The protocol of the tunnel is not a token.") }
    }
    guard !path.isEmpty, bytes.endOfTarget(from: path.lowerBound, to: path.upperBound) == path.upperBound else {
      throw RequestRefusal(400, "The request target is empty or holds a character that no target may hold.")
    }
    if bytes[path.lowerBound] != Byte.slash {
      guard path.count == 1, bytes[path.lowerBound] == Byte.star else {
        throw RequestRefusal(400, "The request target is not a path.")
      }
      guard bytes.equals(method, "OPTIONS") else { throw RequestRefusal(400, "Only OPTIONS may ask for *.") }
    }
    let isHTTPS = bytes.equalsIgnoringCase(scheme, "https")
    guard isHTTPS || !isSecure && bytes.equalsIgnoringCase(scheme, "http") else {
      throw RequestRefusal(400, "The scheme is not this server's.")
    }
  }

  /// Finds the authority: `:authority`, or else `host`; both have to agree (RFC 9113 §8.3.1).
  /// - Returns: the range of the authority in `storage`, where it is in lower case now.
  private mutating func site() throws(RequestRefusal) -> Range<Int> {
    guard !seen.isHostRepeated else { throw RequestRefusal(400, "There is more than one Host field.") }
    guard let named = authority ?? seen.host else { throw RequestRefusal(400, "The authority is missing.") }
    let site = try lowerCaseHost(named)
    guard authority != nil, let host = seen.host else { return site }
    let other = try lowerCaseHost(host)
    guard storage[site] == storage[other] else { throw RequestRefusal(400, "Host and :authority do not agree.") }
    return site
  }

  private mutating func lowerCaseHost(_ range: Range<Int>) throws(RequestRefusal) -> Range<Int> {
    guard let host = HostSyntax.parse(storage.span, range) else {
      throw RequestRefusal(400, "The host is not a name or address with an optional port.")
    }
    if !host.isLowercase { for at in host.range { storage[at] = storage[at].lowercasedASCII } }
    return host.range
  }

  private func framing(isEnd: Bool) throws(RequestRefusal) -> BodyFraming {
    guard let range = seen.contentLength else { return isEnd ? .none : .chunked }
    guard !seen.isContentLengthRepeated else {
      throw RequestRefusal(400, "There is more than one Content-Length field.")
    }
    guard let length = storage.span.contentLength(range) else {
      throw RequestRefusal(400, "The Content-Length is not a decimal number in range.")
    }
    return .length(length)
  }

  private func checkExpectation() throws(RequestRefusal) {
    guard seen.hasExpect else { return }
    for line in lines where line.name == .expect {
      guard storage.span.equalsIgnoringCase(line.valueRange, "100-continue") else {
        throw RequestRefusal(417, "Only the expectation 100-continue is supported.")
      }
    }
  }

  /// Joins the cookies, which browsers send in one field each, because HTTP/1.1 has one `Cookie` field (RFC 9113 §8.2.3).
  private mutating func joinCookies() {
    guard cookies > 1, let first = lines.firstIndex(where: { $0.name == .cookie }) else { return }
    let start = storage.count
    for line in lines where line.name == .cookie {
      if storage.count > start { storage.append(contentsOf: [Byte.semicolon, Byte.space]) }
      for at in line.valueRange { storage.append(storage[at]) }
    }
    lines[first] = FieldLine(name: .cookie, nameRange: lines[first].nameRange, valueRange: start..<storage.count)
    var isLater = false
    lines.removeAll { line in
      guard line.name == .cookie else { return false }
      defer { isLater = true }
      return isLater
    }
  }

  private static func method(_ token: Bytes) -> Method { token.equals("GET") ? .get : Method(token) }
}
