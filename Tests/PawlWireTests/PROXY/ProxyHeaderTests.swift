import PawlTestKit
import Testing

@testable import PawlWire

@Suite("PROXY protocol") struct ProxyHeaderTests {
  static let client4: ProxyHeader.Endpoint = ProxyHeader.Endpoint(bytes: [192, 0, 2, 1], port: 4711)
  static let server4: ProxyHeader.Endpoint = ProxyHeader.Endpoint(bytes: [192, 0, 2, 2], port: 443)
  static let named4: ProxyHeader.Named = ProxyHeader.Named.internet(client: client4, server: server4)
  static let client6: ProxyHeader.Endpoint = ProxyHeader.Endpoint(
    bytes: [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1], port: 1)
  static let server6: ProxyHeader.Endpoint = ProxyHeader.Endpoint(
    bytes: [UInt8](repeating: 0xff, count: 16), port: 65_535)

  // MARK: Version 1

  private static let widest: String = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"

  static let textRows: [(String, ProxyHeader.Named)] = [
    ("PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\r\n", named4),
    (
      "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
      .internet(
        client: .init(bytes: [255, 255, 255, 255], port: 65_535),
        server: .init(bytes: [255, 255, 255, 255], port: 65_535))
    ),
    (
      "PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n",
      .internet(client: .init(bytes: [0, 0, 0, 0], port: 0), server: .init(bytes: [0, 0, 0, 0], port: 0))
    ),
    (
      "PROXY TCP6 2001:db8::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1 65535\r\n",
      .internet(client: client6, server: server6)
    ),
    ("PROXY UNKNOWN\r\n", .nobody), ("PROXY UNKNOWN whatever 1 2 3 4 5\r\n", .nobody),
    // The longest one that the specification gives.
    ("PROXY UNKNOWN \(widest) \(widest) 65535 65535\r\n", .nobody),
  ]

  @Test("version 1 is read", arguments: textRows)
  func readsText(_ row: (String, ProxyHeader.Named)) {
    checkWhole(Array(row.0.utf8), ProxyHeader(named: row.1))
  }

  static let badText: [String] = [
    "PROXY TCP4 192.0.2.1 192.0.2.2 4711\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 4711 443 1\r\n",
    "PROXY  TCP4 192.0.2.1 192.0.2.2 4711 443\r\n", "PROXY TCP4 192.0.2.1  192.0.2.2 4711 443\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 4711 443 \r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 04711 443\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 65536 443\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 -1 443\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 4711 \r\n", "PROXY TCP4 192.0.2.256 192.0.2.2 4711 443\r\n",
    "PROXY TCP4 192.0.2.01 192.0.2.2 4711 443\r\n", "PROXY TCP4 192.0.2 192.0.2.2 4711 443\r\n",
    "PROXY TCP4 2001:db8::1 ::1 4711 443\r\n", "PROXY TCP6 192.0.2.1 192.0.2.2 4711 443\r\n",
    "PROXY TCP6 2001:db8::1::2 ::1 4711 443\r\n", "PROXY TCP5 192.0.2.1 192.0.2.2 4711 443\r\n",
    "PROXY UDP4 192.0.2.1 192.0.2.2 4711 443\r\n", "PROXY tcp4 192.0.2.1 192.0.2.2 4711 443\r\n",
    "PROXY \r\n", "PROXY TCP4\r\n", "PROXY UNKNOWNS\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\n",
    "PROXY UNKNOWN " + String(repeating: "x", count: 92) + "\r\n", String(repeating: "PROXY ", count: 20),
    "proxy TCP4 192.0.2.1 192.0.2.2 4711 443\r\n", "GET / HTTP/1.1\r\n", "\r\n\r\n\r", "\u{16}\u{3}\u{1}",
    "PRI * HTTP/2.0\r\n",
  ]

  @Test("what is no version 1 is refused, whatever comes behind it", arguments: badText)
  func refusesText(_ text: String) {
    expectMalformed(Array(text.utf8))
  }

  @Test("a line of 107 bytes is the longest")
  func textLimit() {
    let line = "PROXY UNKNOWN " + String(repeating: "x", count: ProxyHeader.maxText - 16)
    #expect(ProxyHeader.parse(Array((line + "\r\n").utf8)) == .header(.init(named: .nobody), byteCount: 107))
    #expect(ProxyHeader.parse(Array((line + "\r").utf8)) == .needMore)
    #expect(ProxyHeader.parse(Array((line + "xx").utf8)) == .malformed("the line is longer than 107 bytes"))
    expectMalformed(Array((line + "x\r\n").utf8))
  }

  // MARK: Version 2

  static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
    let count = length ?? rest.count
    return ProxyHeader.signature + [command, family, UInt8(count >> 8), UInt8(count & 0xff)] + rest
  }

  static func addition(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
    [type, UInt8(value.count >> 8), UInt8(value.count & 0xff)] + value
  }

  static let block4: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0x12, 0x67, 0x01, 0xbb]
  static let block6: [UInt8] = client6.bytes + server6.bytes + [0, 1, 0xff, 0xff]
  static let blockUnix: [UInt8] = Array("/run/c.sock".utf8) + [UInt8](repeating: 0, count: 205)
  static let secure: [UInt8] = addition(0x20, [0x01, 0, 0, 0, 0] + addition(0x21, Array("TLSv1.3".utf8)))

  static let binaryRows: [([UInt8], ProxyHeader)] = [
    (binary(0x21, 0x11, block4), ProxyHeader(named: named4)),
    (binary(0x21, 0x21, block6), ProxyHeader(named: .internet(client: client6, server: server6))),
    (binary(0x21, 0x31, blockUnix), ProxyHeader(named: .unix(client: Array("/run/c.sock".utf8)))),
    (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), ProxyHeader(named: .unix(client: []))),
    (binary(0x20, 0x00, []), ProxyHeader(named: .proxyItself)),
    (binary(0x20, 0x11, block4), ProxyHeader(named: .proxyItself)),
    // What LOCAL says besides is ignored, sense or not.
    (binary(0x20, 0xff, [1, 2, 3]), ProxyHeader(named: .proxyItself)),
    (binary(0x21, 0x00, []), ProxyHeader(named: .nobody)), (binary(0x21, 0x12, block4), ProxyHeader(named: .nobody)),
    (
      binary(0x21, 0x11, block4 + addition(0x04, [0, 0]) + addition(0x02, Array("a.example".utf8))),
      ProxyHeader(named: named4)
    ),
    (binary(0x21, 0x11, block4 + secure), ProxyHeader(named: named4, isSecure: true)),
    (binary(0x21, 0x00, secure), ProxyHeader(named: .nobody, isSecure: true)),
    (binary(0x21, 0x11, block4 + addition(0x20, [0x06, 0, 0, 0, 0])), ProxyHeader(named: named4)),
    (binary(0x21, 0x11, block4 + addition(0xee, [])), ProxyHeader(named: named4)),
    (
      checked(binary(0x21, 0x11, block4 + addition(0x03, [0, 0, 0, 0]) + secure), at: 31),
      ProxyHeader(named: named4, isSecure: true)
    ),
  ]

  /// With its checksum, which stands at that index.
  static func checked(_ header: [UInt8], at index: Int) -> [UInt8] {
    var header = header
    let sum = ProxyHeader.checksum(header[...], without: index..<(index + 4))
    for byte in 0..<4 { header[index + byte] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(byte))) }
    return header
  }

  @Test("version 2 is read", arguments: binaryRows)
  func readsBinary(_ row: ([UInt8], ProxyHeader)) {
    checkWhole(row.0, row.1)
  }

  static let badBinary: [[UInt8]] = [
    binary(0x11, 0x11, block4), binary(0x31, 0x11, block4), binary(0x22, 0x11, block4), binary(0x2f, 0x11, block4),
    binary(0x21, 0x10, block4), binary(0x21, 0x01, block4), binary(0x21, 0x13, block4), binary(0x21, 0x41, block4),
    binary(0x21, 0x11, Array(block4.dropLast())), binary(0x21, 0x21, block4), binary(0x21, 0x31, block6),
    binary(0x21, 0x11, block4 + [0x04]), binary(0x21, 0x11, block4 + [0x04, 0, 1]),
    binary(0x21, 0x11, block4 + addition(0x20, [1, 0, 0, 0])), binary(0x21, 0x11, block4 + addition(0x03, [0, 0, 0])),
    binary(0x21, 0x11, block4 + addition(0x03, [0, 0, 0, 0])),
    binary(0x21, 0x00, [], length: ProxyHeader.maxBinary - 15),
  ]

  @Test("what is no version 2 is refused", arguments: badBinary)
  func refusesBinary(_ bytes: [UInt8]) {
    expectMalformed(bytes)
  }

  @Test("CRC32C is the one of its known answer, and a wrong byte anywhere is found")
  func checksum() {
    #expect(ProxyHeader.checksum(Array("123456789".utf8)[...], without: 0..<0) == 0xe306_9283)
    let header = Self.checked(Self.binary(0x21, 0x11, Self.block4 + Self.addition(0x03, [0, 0, 0, 0])), at: 31)
    // But for the byte that says that there is a checksum.
    for index in 16..<header.count where index != 28 {
      var wrong = header
      wrong[index] ^= 0x40
      if case .header = ProxyHeader.parse(wrong) { Issue.record("byte \(index)") }
    }
    let twice = Self.binary(
      0x21, 0x00, Self.addition(0x03, [0, 0, 0, 0]) + Self.addition(0x03, [0, 0, 0, 0]))
    expectMalformed(Self.checked(twice, at: 19))
  }

  @Test("the longest header is taken, and one byte more is not")
  func binaryLimit() {
    let filling = ProxyHeader.maxBinary - 16 - Self.block4.count - 3
    let longest = Self.binary(0x21, 0x11, Self.block4 + Self.addition(0xee, [UInt8](repeating: 7, count: filling)))
    #expect(longest.count == ProxyHeader.maxBinary)
    let whole = ProxyHeaderParse.header(ProxyHeader(named: Self.named4), byteCount: longest.count)
    #expect(ProxyHeader.parse(longest + [1, 2, 3]) == whole)
    #expect(ProxyHeader.parse(longest.dropLast()) == .needMore)
    let longer = Self.binary(0x21, 0x11, Self.block4 + Self.addition(0xee, [UInt8](repeating: 7, count: filling + 1)))
    #expect(ProxyHeader.parse(longer) == .malformed("the header is longer than pawl takes"))
  }

  // MARK: Both

  @Test("mutations are read or refused, and never read beyond what is there")
  func mutations() {
    var random = SplitMix(state: 4711)
    let seeds = Self.textRows.map { Array($0.0.utf8) } + Self.binaryRows.map(\.0) + Self.badBinary
    for round in 0..<20_000 {
      var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
      for _ in 0...(random.next() % 3) {
        guard !bytes.isEmpty else { break }
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
        default: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
        }
      }
      switch ProxyHeader.parse(bytes) {
      case .header(_, let count):
        #expect(count <= bytes.count, "round \(round)")
        #expect(ProxyHeader.parse(bytes.prefix(count - 1)) == .needMore, "round \(round)")
      case .needMore: #expect(bytes.count < ProxyHeader.maxBinary, "round \(round)")
      case .malformed: break
      }
    }
  }

  private func checkWhole(_ bytes: [UInt8], _ header: ProxyHeader) {
    let whole = ProxyHeaderParse.header(header, byteCount: bytes.count)
    #expect(ProxyHeader.parse(bytes) == whole)
    #expect(ProxyHeader.parse(bytes + Array("GET / HTTP/1.1\r\n".utf8)) == whole)
    // As a slice that does not begin at zero.
    #expect(ProxyHeader.parse(([0] + bytes).dropFirst()) == whole)
    for count in bytes.indices where ProxyHeader.parse(bytes[..<count]) != .needMore {
      Issue.record("the first \(count) bytes are not said to need more")
    }
  }

  private func expectMalformed(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
    guard case .malformed = ProxyHeader.parse(bytes) else {
      Issue.record("not refused: \(bytes)", sourceLocation: sourceLocation)
      return
    }
    guard case .malformed = ProxyHeader.parse(bytes + [0x0d, 0x0a]) else {
      Issue.record("not refused with more: \(bytes)", sourceLocation: sourceLocation)
      return
    }
  }
}

/// The same numbers each time.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
