/// `uri-host [ ":" port ]` as it stands in `Host` and in absolute targets (RFC 9110 §4.2, §7.2), checked in place.
struct HostSyntax: Equatable {
  /// Without the colon of an empty port.
  var range: Range<Int>
  var isLowercase: Bool

  /// `nil` for an empty host, user information, a list, an impossible port, or any other octet.
  @inline(__always) static func parse(_ octets: Span<UInt8>, _ range: Range<Int>) -> HostSyntax? {
    guard let first = range.first else { return nil }
    var at = first
    var isLowercase = true
    if octets[first] == 0x5b {
      guard let end = endOfLiteral(octets, range, &isLowercase) else { return nil }
      at = end
    } else {
      while at < range.upperBound, OctetSet.registeredName.contains(octets[at]) {
        if octets[at] &- 0x41 <= 25 { isLowercase = false }
        if octets[at] == 0x25, !isEscape(octets, at, range.upperBound) { return nil }
        at &+= 1
      }
      guard at > first else { return nil }
    }
    guard at < range.upperBound else { return HostSyntax(range: range, isLowercase: isLowercase) }
    guard octets[at] == Octet.colon, isPort(octets, at + 1..<range.upperBound) else { return nil }
    let end = at + 1 == range.upperBound ? at : range.upperBound
    return HostSyntax(range: first..<end, isLowercase: isLowercase)
  }

  private static func isEscape(_ octets: Span<UInt8>, _ at: Int, _ end: Int) -> Bool {
    at + 2 < end && ChunkSize.digit(octets[at + 1]) != nil && ChunkSize.digit(octets[at + 2]) != nil
  }

  private static func isPort(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard range.count <= 5 else { return false }
    var port = 0
    for at in range {
      guard Octet.isDigit(octets[at]) else { return false }
      port = port * 10 + Int(octets[at] - 0x30)
    }
    return port <= 65535
  }

  /// Where `[…]` ends. Whether the address has the right number of groups is not the wire's business.
  private static func endOfLiteral(
    _ octets: Span<UInt8>, _ range: Range<Int>, _ isLowercase: inout Bool
  ) -> Int? {
    var at = range.lowerBound + 1
    var colons = 0
    while at < range.upperBound, octets[at] != 0x5d {
      let octet = octets[at]
      guard octet == Octet.colon || octet == Octet.dot || ChunkSize.digit(octet) != nil else { return nil }
      if octet == Octet.colon { colons += 1 }
      if octet &- 0x41 <= 25 { isLowercase = false }
      at += 1
    }
    return at < range.upperBound && colons >= 2 && at - range.lowerBound <= 46 ? at + 1 : nil
  }
}
