/// The header of the PROXY protocol, version 1 or 2 (HAProxy's proxy-protocol.txt, sections 2.1 and 2.2). In it a proxy describes
/// the connection of a client; it comes before the first byte of the client.
package struct ProxyHeader: Hashable, Sendable {
  /// The most bytes of a header of version 1, its line end included (section 2.1).
  package static let maxText = 107
  /// The most bytes of a header of version 2 that pawl accepts: the 16 fixed bytes, and the bytes whose number these give.
  /// Headers with the client's certificate need some thousand bytes.
  package static let maxBinary = 16 + (8 << 10)

  /// An address of 4 or 16 bytes, in network order, and a port.
  package struct Endpoint: Hashable, Sendable {
    package var bytes: [UInt8]
    package var port: UInt16
    package init(bytes: [UInt8], port: UInt16) { (self.bytes, self.port) = (bytes, port) }
  }

  /// The client of the connection.
  package enum Named: Hashable, Sendable {
    /// The proxy itself, for instance for a health check (`LOCAL`).
    case proxyItself
    /// A client that the proxy does not name (`UNKNOWN`, `AF_UNSPEC`).
    case nobody
    case internet(client: Endpoint, server: Endpoint)
    /// A unix socket, with the path that the client bound; mostly empty.
    case unix(client: [UInt8])
  }

  package var named: Named
  /// Whether the client spoke TLS to the proxy (`PP2_TYPE_SSL`).
  package var isSecure: Bool

  package init(named: Named, isSecure: Bool = false) { (self.named, self.isSecure) = (named, isSecure) }
}

/// The result of parsing the bytes at the start of a connection.
package enum ProxyHeaderParse: Hashable, Sendable {
  /// The header is incomplete; all bytes so far belong to it.
  case needMore
  /// The header, and how many bytes it takes.
  case header(ProxyHeader, byteCount: Int)
  /// There is no valid header: the connection is closed without a response.
  case malformed(String)
}

/// Why the bytes are no valid header.
struct MalformedProxyHeader: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

extension ProxyHeader {
  static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
  private static let word = Array("PROXY ".utf8)

  /// Parses the header at the start of `bytes`, which are all bytes received so far.
  package static func parse(_ bytes: some Collection<UInt8>) -> ProxyHeaderParse {
    // Bytes beyond the longest header are not read.
    let bytes = Array(bytes.prefix(maxBinary))
    do throws(MalformedProxyHeader) {
      if bytes.starts(with: signature) { return try parseBinary(bytes) }
      if bytes.starts(with: word) { return try parseText(bytes) }
    } catch { return .malformed(error.reason) }
    if signature.starts(with: bytes) || word.starts(with: bytes) { return .needMore }
    return .malformed("there is no PROXY protocol header")
  }

  // MARK: Version 1

  private static func parseText(_ bytes: [UInt8]) throws(MalformedProxyHeader) -> ProxyHeaderParse {
    let line = bytes.prefix(maxText)
    guard let end = line.firstIndex(of: 0x0a) else {
      guard bytes.count < maxText else { throw MalformedProxyHeader("the line is longer than 107 bytes") }
      return .needMore
    }
    guard line[end - 1] == 0x0d else { throw MalformedProxyHeader("the line does not end with CR LF") }
    return .header(try header(of: bytes[word.count..<(end - 1)]), byteCount: end + 1)
  }

  /// Parses `TCP4 192.0.2.1 192.0.2.2 4711 443`, or `UNKNOWN` with any text after it.
  private static func header(of text: ArraySlice<UInt8>) throws(MalformedProxyHeader) -> ProxyHeader {
    let words = text.split(separator: 0x20, omittingEmptySubsequences: false)
    let family = words.first ?? []
    if family.elementsEqual("UNKNOWN".utf8) { return ProxyHeader(named: .nobody) }
    let isSixth = family.elementsEqual("TCP6".utf8)
    guard isSixth || family.elementsEqual("TCP4".utf8) else {
      throw MalformedProxyHeader("the protocol is none of TCP4, TCP6 and UNKNOWN")
    }
    guard words.count == 5 else { throw MalformedProxyHeader("the line has not two addresses and two ports") }
    let read = isSixth ? InternetAddressText.sixth : InternetAddressText.fourth
    guard let client = read(words[1]), let server = read(words[2]) else {
      throw MalformedProxyHeader("an address is malformed")
    }
    guard let clientPort = port(words[3]), let serverPort = port(words[4]) else {
      throw MalformedProxyHeader("a port is malformed")
    }
    return ProxyHeader(
      named: .internet(
        client: Endpoint(bytes: client, port: clientPort), server: Endpoint(bytes: server, port: serverPort)))
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard let first = digits.first, digits.count <= 5, first != 0x30 || digits.count == 1 else { return nil }
    return digits.strictDecimal.flatMap { UInt16(exactly: $0) }
  }
}
