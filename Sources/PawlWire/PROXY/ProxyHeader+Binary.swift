/// Version 2 of the PROXY protocol (section 2.2).
extension ProxyHeader {
  /// - Parameter bytes: all bytes received so far; they begin with the signature.
  static func parseBinary(_ bytes: [UInt8]) throws(MalformedProxyHeader) -> ProxyHeaderParse {
    guard bytes.count > 12 else { return .needMore }
    guard bytes[12] >> 4 == 2 else { throw MalformedProxyHeader("the version is not 2") }
    guard bytes[12] & 0xf <= 1 else { throw MalformedProxyHeader("the command is neither LOCAL nor PROXY") }
    let isLocal = bytes[12] & 0xf == 0
    guard bytes.count > 13 else { return .needMore }
    // The rest of a LOCAL header has to be ignored, whatever it holds.
    guard let family = isLocal ? .unspecified : Family(rawValue: bytes[13]) else {
      throw MalformedProxyHeader("the address family or protocol is unknown")
    }
    guard bytes.count >= 16 else { return .needMore }
    let end = 16 + (Int(bytes[14]) << 8 | Int(bytes[15]))
    guard end <= maxBinary else { throw MalformedProxyHeader("the header is longer than pawl takes") }
    guard isLocal || end >= 16 + family.addressLength else {
      throw MalformedProxyHeader("the header is too short for its addresses")
    }
    guard bytes.count >= end else { return .needMore }
    if isLocal { return .header(ProxyHeader(named: .proxyItself), byteCount: end) }
    let isSecure = try readAdditions(bytes[..<end], from: 16 + family.addressLength)
    let header = ProxyHeader(named: named(family, bytes[16..<(16 + family.addressLength)]), isSecure: isSecure)
    return .header(header, byteCount: end)
  }

  /// The address family and transport protocol in byte 14 of the header; other values have to be rejected.
  private enum Family: UInt8 {
    case unspecified = 0x00
    case stream4 = 0x11, datagram4 = 0x12, stream6 = 0x21, datagram6 = 0x22, unixStream = 0x31, unixDatagram = 0x32

    var addressLength: Int {
      switch self {
      case .unspecified: 0
      case .stream4, .datagram4: 12
      case .stream6, .datagram6: 36
      case .unixStream, .unixDatagram: 216
      }
    }
  }

  private static func named(_ family: Family, _ block: ArraySlice<UInt8>) -> Named {
    func part(_ range: Range<Int>) -> [UInt8] { Array(block.dropFirst(range.lowerBound).prefix(range.count)) }
    func port(_ offset: Int) -> UInt16 { part(offset..<(offset + 2)).reduce(0) { $0 << 8 | UInt16($1) } }
    switch family {
    // A TCP connection cannot come from a datagram socket.
    case .unspecified, .datagram4, .datagram6, .unixDatagram: return .nobody
    case .stream4:
      return .internet(
        client: Endpoint(bytes: part(0..<4), port: port(8)), server: Endpoint(bytes: part(4..<8), port: port(10)))
    case .stream6:
      return .internet(
        client: Endpoint(bytes: part(0..<16), port: port(32)), server: Endpoint(bytes: part(16..<32), port: port(34)))
    case .unixStream:
      return .unix(client: Array(part(0..<108).prefix { $0 != 0 }))
    }
  }

  // MARK: Extensions after the addresses

  private static let checksumType: UInt8 = 0x03
  private static let secureType: UInt8 = 0x20

  /// Parses the extensions, each with type, length and value (section 2.2.1), and verifies the checksum where there is one.
  /// - Returns: whether the client spoke TLS to the proxy.
  private static func readAdditions(
    _ header: ArraySlice<UInt8>, from start: Int
  ) throws(MalformedProxyHeader) -> Bool {
    var (position, isSecure, hasChecksum) = (start, false, false)
    while position < header.endIndex {
      guard position + 3 <= header.endIndex else { throw MalformedProxyHeader("an addition is cut off") }
      let first = position + 3
      let end = first + (Int(header[position + 1]) << 8 | Int(header[position + 2]))
      guard end <= header.endIndex else { throw MalformedProxyHeader("an addition is longer than the header") }
      switch header[position] {
      case checksumType:
        guard !hasChecksum, end - first == 4 else { throw MalformedProxyHeader("the checksum is malformed") }
        hasChecksum = true
        guard checksum(header, without: first..<end) == header[first..<end].reduce(0, { $0 << 8 | UInt32($1) }) else {
          throw MalformedProxyHeader("the checksum is wrong")
        }
      case secureType:
        guard end - first >= 5 else { throw MalformedProxyHeader("what is said of TLS is too short") }
        // PP2_CLIENT_SSL
        isSecure = header[first] & 0x01 != 0
      default: break
      }
      position = end
    }
    return isSecure
  }

  /// The CRC32C (RFC 9260 appendix A) of the header, in which the checksum itself counts as zeros. One bit at a time is fast
  /// enough: headers are short, and few have a checksum.
  static func checksum(_ header: ArraySlice<UInt8>, without gap: Range<Int>) -> UInt32 {
    var register: UInt32 = .max
    for index in header.indices {
      register ^= gap.contains(index) ? 0 : UInt32(header[index])
      for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0x82f6_3b78 : 0) }
    }
    return ~register
  }
}
