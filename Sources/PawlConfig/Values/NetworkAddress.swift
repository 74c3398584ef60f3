/// A literal IPv4 or IPv6 address: 4 or 16 bytes in network order.
package struct NetworkAddress: Hashable, Sendable {
  package var bytes: [UInt8]

  /// Parses `192.0.2.1` or `2001:db8::1`, without brackets, zone or port (RFC 3986 §3.2.2).
  package init?(_ text: some StringProtocol) {
    guard let bytes = text.contains(":") ? Self.sixth(String(text)) : Self.fourth(String(text)) else { return nil }
    self.bytes = bytes
  }

  /// The bytes; of an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) those of the IPv4 address, which connections to it reach.
  var plainBytes: [UInt8] { AddressRange.unmapped(bytes) }

  private static func fourth(_ text: String) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes = [UInt8]()
    for part in parts {
      guard part.count <= 3, !(part.count > 1 && part.first == "0"), let value = Quantity.number(part), value <= 255
      else { return nil }
      bytes.append(UInt8(value))
    }
    return bytes
  }

  private static func sixth(_ text: String) -> [UInt8]? {
    var text = text
    var tail = [UInt8]()
    if text.contains(".") {  // the last 32 bits in dotted form
      guard let colon = text.lastIndex(of: ":"), let four = fourth(String(text[text.index(after: colon)...])) else {
        return nil
      }
      tail = four
      text = String(text[...colon])
      if !text.hasSuffix("::") { text.removeLast() }
      if text.isEmpty { return nil }
    }
    guard let gap = firstGap(in: text) else {
      guard let all = groups(text), all.count + tail.count == 16 else { return nil }
      return all + tail
    }
    let after = text[text.index(gap, offsetBy: 2)...]
    guard let left = groups(String(text[..<gap])), let right = groups(String(after)) else { return nil }
    let missing = 16 - left.count - right.count - tail.count
    guard missing >= 2 else { return nil }
    return left + [UInt8](repeating: 0, count: missing) + right + tail
  }

  private static func firstGap(in text: String) -> String.Index? {
    var index = text.startIndex
    while index < text.endIndex {
      let next = text.index(after: index)
      if next < text.endIndex, text[index] == ":", text[next] == ":" { return index }
      index = next
    }
    return nil
  }

  private static func groups(_ text: String) -> [UInt8]? {
    if text.isEmpty { return [] }
    var bytes = [UInt8]()
    for group in text.split(separator: ":", omittingEmptySubsequences: false) {
      guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy({ isHex($0) }),
        let value = UInt16(group, radix: 16)
      else { return nil }
      bytes.append(UInt8(value >> 8))
      bytes.append(UInt8(value & 0xff))
    }
    return bytes
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}

/// A range of addresses with the same first bits: `10.0.0.0/8`, `fd00::/8`, a single address, or `unix:` for all clients of
/// Unix sockets.
package struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  /// The first address; `nil`: Unix sockets.
  package let network: NetworkAddress?
  package let prefixLength: Int
  package let description: String

  package var isUnixSockets: Bool { network == nil }

  /// Parses an address, `ADDRESS/BITS` or `unix:`; `nil` for anything else. Bits beyond the prefix are ignored.
  package init?(_ text: String) {
    if text.lowercased() == "unix:" {
      (network, prefixLength, description) = (nil, 0, "unix:")
      return
    }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let network = NetworkAddress(first) else { return nil }
    var length = network.bytes.count * 8
    if parts.count == 2 {
      guard let bits = Quantity.number(parts[1]), bits <= UInt64(length) else { return nil }
      length = Int(bits)
    }
    (self.network, prefixLength, description) = (network, length, text)
  }

  /// Whether the range contains an address of 4 or 16 bytes. IPv4-mapped IPv6 addresses count as IPv4.
  package func contains(_ address: [UInt8]) -> Bool {
    let plain = Self.unmapped(address)
    guard let network, plain.count == network.bytes.count else { return false }
    for index in plain.indices {
      let bits = min(8, max(0, prefixLength - index * 8))
      let mask = UInt8(truncatingIfNeeded: 0xff00 >> bits)
      if plain[index] & mask != network.bytes[index] & mask { return false }
    }
    return true
  }

  fileprivate static func unmapped(_ address: [UInt8]) -> [UInt8] {
    let prefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    return address.count == 16 && address.starts(with: prefix) ? Array(address.dropFirst(12)) : address
  }
}
