import PawlHTTP

/// The form of the target (RFC 9112 §3.2).
enum TargetForm: Sendable {
  case origin, absolute, asterisk
  /// `http://a` with OPTIONS: the server as a whole, `*`.
  case absoluteServer
  /// `http://a?x`: the path is `/`, which is not in the buffer.
  case absoluteQueryOnly

  var isAbsolute: Bool {
    switch self {
    case .origin, .asterisk: false
    case .absolute, .absoluteServer, .absoluteQueryOnly: true
    }
  }

  var needsRewriting: Bool {
    switch self {
    case .origin, .asterisk, .absolute: false
    case .absoluteServer, .absoluteQueryOnly: true
    }
  }
}

extension RequestParser {
  /// Parses `method SP request-target SP HTTP-version CRLF` with single spaces (RFC 9112 §3), and skips empty lines before it.
  /// - Returns: the start of the next line; `nil` when the line is not complete.
  mutating func takeRequestLine(_ bytes: Span<UInt8>) throws(RequestRefusal) -> Int? {
    guard let start = try skipEmptyLines(bytes) else { return nil }
    // No byte beyond the limit is read, so that the result does not depend on how the line arrives in pieces.
    let end = min(bytes.count, start + limits.maxRequestLine + 2)
    let methodEnd = bytes.firstOutside(.token, from: start, to: end)
    guard methodEnd - start <= limits.maxMethod else { throw RequestRefusal(501, "The method is too long.") }
    guard methodEnd < end else { return try incomplete(bytes, start) }
    guard methodEnd > start, bytes[methodEnd] == Byte.space else {
      throw RequestRefusal(400, "The request line does not start with a method and one space.")
    }
    let targetEnd = bytes.endOfTarget(from: methodEnd + 1, to: end)
    guard targetEnd < end else { return try incomplete(bytes, start) }
    guard targetEnd > methodEnd + 1, bytes[targetEnd] == Byte.space else {
      throw RequestRefusal(400, "The request target is empty or holds a character that no target may hold.")
    }
    guard let next = try takeVersion(bytes, from: targetEnd + 1, to: end) else { return try incomplete(bytes, start) }

    methodRange = start..<methodEnd
    method = bytes.equals(methodRange, "GET") ? .get : bytes.equals(methodRange, "HEAD") ? .head : .other
    if bytes.equals(methodRange, "CONNECT") {
      throw RequestRefusal(405, "This is a reverse proxy; it opens no tunnels.")
    }
    try takeTarget(bytes, methodEnd + 1..<targetEnd)
    return next
  }

  private func incomplete(_ bytes: Span<UInt8>, _ start: Int) throws(RequestRefusal) -> Int? {
    guard bytes.count - start < limits.maxRequestLine + 2 else {
      throw RequestRefusal(414, "The request line is too long.")
    }
    return nil
  }

  private mutating func skipEmptyLines(_ bytes: Span<UInt8>) throws(RequestRefusal) -> Int? {
    while true {
      let start = progress.lineStart
      guard start < bytes.count else { return nil }
      guard bytes[start] == Byte.carriageReturn else { return start }
      guard start + 1 < bytes.count else { return nil }
      guard bytes[start + 1] == Byte.lineFeed else { throw Self.bareCarriageReturn }
      emptyLines += 1
      guard emptyLines <= limits.leadingEmptyLines else {
        throw RequestRefusal(400, "There are too many empty lines before the request.")
      }
      progress.lineStart = start + 2
    }
  }

  /// Parses `HTTP/` DIGIT `.` DIGIT CRLF. A number of several digits, or another major version, is a valid version that pawl does
  /// not speak: 505.
  private mutating func takeVersion(
    _ bytes: Span<UInt8>, from start: Int, to end: Int
  ) throws(RequestRefusal) -> Int? {
    let misformed = RequestRefusal(400, "The request line does not end with one space and an HTTP version.")
    for offset in 0..<5 {
      guard start + offset < end else { return nil }
      // Safe: the literal has five bytes.
      guard bytes[start + offset] == ("HTTP/" as StaticString).utf8Start[offset] else { throw misformed }
    }
    let major = start + 5
    let dot = bytes.endOfDigits(from: major, to: end)
    guard dot < end else { return nil }
    guard dot > major, bytes[dot] == Byte.dot else { throw misformed }
    let minor = dot + 1
    let lineEnd = bytes.endOfDigits(from: minor, to: end)
    guard lineEnd < end else { return nil }
    guard lineEnd > minor, bytes[lineEnd] == Byte.carriageReturn else {
      throw bytes[lineEnd] == Byte.lineFeed ? Self.bareLineFeed : misformed
    }
    guard lineEnd + 1 < end else { return nil }
    guard bytes[lineEnd + 1] == Byte.lineFeed else { throw Self.bareCarriageReturn }
    guard dot == major + 1, lineEnd == minor + 1, bytes[major] == 0x31 else {
      throw RequestRefusal(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    }
    version = bytes[minor] == 0x30 ? .http10 : .http11
    return lineEnd + 2
  }

  private mutating func takeTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestRefusal) {
    let first = bytes[range.lowerBound]
    (target, targetRange) = (.origin, range)
    if first == Byte.slash { return }
    let isOptions = bytes.equals(methodRange, "OPTIONS")
    if first == Byte.star, range.count == 1 {
      guard isOptions else { throw RequestRefusal(400, "Only OPTIONS may ask for *.") }
      target = .asterisk
      return
    }
    let scheme: StaticString = isSecure ? "https://" : "http://"
    let schemeEnd = range.lowerBound + scheme.utf8CodeUnitCount
    guard schemeEnd < range.upperBound, bytes.equalsIgnoringCase(range.lowerBound..<schemeEnd, scheme) else {
      throw RequestRefusal(400, "The request target is neither a path nor an address of this server's scheme.")
    }
    var pathStart = schemeEnd
    while pathStart < range.upperBound, bytes[pathStart] != Byte.slash, bytes[pathStart] != 0x3f { pathStart += 1 }
    try takeAuthority(bytes, schemeEnd..<pathStart)
    if pathStart == range.upperBound {
      // There is no path, so the second slash of `://` serves as the path.
      (target, targetRange) = (isOptions ? .absoluteServer : .absolute, schemeEnd - 1..<schemeEnd)
    } else {
      target = bytes[pathStart] == Byte.slash ? .absolute : .absoluteQueryOnly
      targetRange = pathStart..<range.upperBound
    }
  }

  mutating func takeAuthority(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(RequestRefusal) {
    guard let host = HostSyntax.parse(bytes, range) else {
      throw RequestRefusal(400, "The host is not a name or address with an optional port.")
    }
    (authorityRange, authorityIsLowercase) = (host.range, host.isLowercase)
  }
}

extension Span<UInt8> {
  func endOfDigits(from: Int, to end: Int) -> Int {
    var at = from
    while at < end, Byte.isDigit(self[at]) { at += 1 }
    return at
  }
}
