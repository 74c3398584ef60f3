/// Host and port as requests name them (RFC 9110 §4.2, §7.2; RFC 3986 §3.2).
package enum Authority {
  /// Reads the value of a `Host` field or the authority of a target, and returns it in lower case. A port is kept as it is, a
  /// colon without a port is dropped. `nil` for anything but a host with an optional port: an empty value, user information, a
  /// list, a path, bytes that no host name has. Percent-encoding is refused, since two spellings of one host would be two sites.
  package static func parseHost(_ value: Bytes) -> Bytes? {
    let host = hostOnly(value)
    guard isHost(host), let port = portText(value[host.endIndex...]) else { return nil }
    let authority = port.isEmpty ? host : value
    guard authority.contains(where: { $0 &- 0x41 <= 25 }) else { return authority }
    return authority.map(\.lowercasedASCII)[...]
  }

  /// The host without its port. An IPv6 address keeps its brackets.
  package static func hostOnly(_ authority: Bytes) -> Bytes {
    if authority.first == 0x5b {
      return authority.firstIndex(of: 0x5d).map { authority[...$0] } ?? authority
    }
    return authority.firstIndex(of: 0x3a).map { authority[..<$0] } ?? authority
  }

  /// The port; `nil` when there is none, or no valid one.
  package static func port(of authority: Bytes) -> UInt16? {
    portText(authority[hostOnly(authority).endIndex...])?.strictDecimal.flatMap(UInt16.init(exactly:))
  }

  /// The digits after the colon, empty when there are none; `nil` when something else follows the host.
  private static func portText(_ rest: Bytes) -> Bytes? {
    guard let colon = rest.first else { return rest }
    let digits = rest.dropFirst()
    guard colon == 0x3a, digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
    return digits.isEmpty || (digits.strictDecimal ?? .max) <= 65_535 ? digits : nil
  }

  private static func isHost(_ host: Bytes) -> Bool {
    guard let first = host.first, host.count <= 255 else { return false }
    if first == 0x5b { return host.count > 2 && host.last == 0x5d && isIPv6(host.dropFirst().dropLast()) }
    return host.allSatisfy { $0.isDigit || $0.isLetter || $0 == 0x2d || $0 == 0x2e || $0 == 0x5f || $0 == 0x7e }
      && host.contains { $0 != 0x2e }
  }

  /// Whether the text is an IPv6 address: groups of one to four hexadecimal digits, at most one `::`, perhaps an IPv4 address at
  /// the end.
  private static func isIPv6(_ address: Bytes) -> Bool {
    let groups = address.split(separator: 0x3a, omittingEmptySubsequences: false)
    let empty = groups.indices.filter { groups[$0].isEmpty }
    var words = 0
    for (index, group) in groups.enumerated() where !group.isEmpty {
      if index == groups.count - 1, group.contains(0x2e) {
        guard isIPv4(group) else { return false }
        words += 2
      } else {
        guard group.count <= 4, group.allSatisfy(\.isHexDigit) else { return false }
        words += 1
      }
    }
    switch empty.count {
    case 0: return words == 8
    case 1: return words < 8 && empty[0] > 0 && empty[0] < groups.count - 1
    case 2: return words < 8 && (empty == [0, 1] || empty == [groups.count - 2, groups.count - 1])
    case 3: return groups.count == 3
    default: return false
    }
  }

  private static func isIPv4(_ address: Bytes) -> Bool {
    let parts = address.split(separator: 0x2e, omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { $0.count <= 3 && ($0.strictDecimal ?? .max) <= 255 }
  }
}
