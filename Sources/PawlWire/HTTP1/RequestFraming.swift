package import PawlHTTP

/// The positions of the fields that determine framing, host and connection of a request. The Booleans are facts about single
/// fields, not states of the parser.
struct FramingFields: Sendable {
  var host: Range<Int>?, contentLength: Range<Int>?, transferEncoding: Range<Int>?
  var isHostRepeated = false, isContentLengthRepeated = false, isTransferEncodingRepeated = false
  var hasConnection = false, hasExpect = false

  @inline(__always) mutating func note(_ name: FieldName, _ value: Range<Int>) {
    switch name {
    case .host:
      isHostRepeated = host != nil
      host = value
    case .contentLength:
      isContentLengthRepeated = contentLength != nil
      contentLength = value
    case .transferEncoding:
      isTransferEncodingRepeated = transferEncoding != nil
      transferEncoding = value
    case .connection: hasConnection = true
    case .expect: hasExpect = true
    default: break
    }
  }
}

extension RequestParser {
  /// Checks the rules that need all fields: host, framing, connection and expectations.
  mutating func conclude(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    try concludeHost(bytes)
    try concludeFraming(bytes)
    concludeConnection(bytes)
    guard seen.hasExpect, version.minor != 0 else { return }
    for line in lines {
      guard case .expect = line.name else { continue }
      guard bytes.equalsIgnoringCase(line.valueRange, "100-continue") else {
        throw RequestRefusal(417, "Only the expectation 100-continue is supported.")
      }
    }
  }

  /// Requires exactly one valid `Host`, also beside an absolute target, whose authority is then used (RFC 9110 §7.2).
  private mutating func concludeHost(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    guard !seen.isHostRepeated else { throw RequestRefusal(400, "There is more than one Host field.") }
    guard let host = seen.host else {
      guard version.minor == 0 else { throw RequestRefusal(400, "The Host field is missing.") }
      return
    }
    let absolute = (authorityRange, authorityIsLowercase)
    try takeAuthority(bytes, host)
    if target.isAbsolute { (authorityRange, authorityIsLowercase) = absolute }
  }

  /// Determines the framing (RFC 9112 §6.3). Where the RFC leaves a choice, the request is refused.
  private mutating func concludeFraming(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    if let coding = seen.transferEncoding {
      guard seen.contentLength == nil else {
        throw RequestRefusal(400, "Content-Length and Transfer-Encoding exclude each other.")
      }
      guard version.minor != 0 else { throw RequestRefusal(400, "HTTP/1.0 has no Transfer-Encoding.") }
      guard !seen.isTransferEncodingRepeated else {
        throw RequestRefusal(400, "There is more than one Transfer-Encoding field.")
      }
      switch TransferCoding.parse(bytes, coding) {
      case .chunked: framing = .chunked
      case .otherThenChunked: throw RequestRefusal(501, "The only transfer coding known here is chunked.")
      case .notChunkedLast: throw RequestRefusal(400, "The last transfer coding is not chunked.")
      case .malformed: throw RequestRefusal(400, "The Transfer-Encoding field is malformed.")
      }
    } else if let length = seen.contentLength {
      guard !seen.isContentLengthRepeated else {
        throw RequestRefusal(400, "There is more than one Content-Length field.")
      }
      guard let count = bytes.contentLength(length) else {
        throw RequestRefusal(400, "The Content-Length is not a decimal number in range.")
      }
      framing = .length(count)
    }
  }

  private mutating func concludeConnection(_ bytes: Span<UInt8>) {
    keepsAlive = version.minor != 0
    guard seen.hasConnection else { return }
    var closes = false
    for line in lines {
      guard case .connection = line.name else { continue }
      bytes.forEachElement(line.valueRange) { element in
        if bytes.equalsIgnoringCase(element, "close") { closes = true }
        if bytes.equalsIgnoringCase(element, "keep-alive") { keepsAlive = true }
      }
    }
    if closes { keepsAlive = false }
  }

  /// Copies the last parsed head out of the buffer, which has to be the one given to ``parse(_:_:)``.
  package func makeHead(_ buffer: borrowing [UInt8]) -> RequestHead {
    let storage = Array(buffer[firstField..<headEnd])
    var fields = Fields(storage: storage, lines: lines.moved(by: -firstField))
    let authority =
      authorityIsLowercase
      ? Array(buffer[authorityRange]) : Array(buffer[authorityRange].lazy.map(\.lowercasedASCII))
    if target.isAbsolute { fields.set(.host, authority) }
    return RequestHead(
      method: isGet ? .get : Method(buffer[methodRange]), target: ownTarget(buffer), authority: authority[...],
      version: version, fields: fields, framing: framing)
  }

  private func ownTarget(_ buffer: borrowing [UInt8]) -> Bytes {
    switch target {
    case .origin, .absolute, .asterisk: Array(buffer[targetRange])[...]
    case .absoluteServer: [Byte.star]
    case .absoluteQueryOnly: ([Byte.slash] + buffer[targetRange])[...]
    }
  }
}
