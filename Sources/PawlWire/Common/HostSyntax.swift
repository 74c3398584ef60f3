import PawlBase
import PawlHTTP

/// The syntax `uri-host [ ":" port ]` of `Host` and of absolute targets (RFC 9110 §4.2, §7.2). Accepts the same values as
/// ``Authority/parseHost(_:)``, but reads them in place, and allocates nothing for host names.
struct HostSyntax: Equatable {
  /// The host and the port, without the colon of an empty port.
  var range: Range<Int>
  var isLowercase: Bool

  /// `nil` for an empty host, a host of only dots or of more than 255 bytes, an impossible port, or a byte that no host may
  /// contain (so also for user information and lists).
  static func parse(_ bytes: Span<UInt8>, _ range: Range<Int>) -> HostSyntax? {
    guard let first = range.first else { return nil }
    if bytes[first] == 0x5b { return parseLiteral(bytes, range) }
    var at = first
    var (isLowercase, isOnlyDots) = (true, true)
    while at < range.upperBound, ASCIISet.hostName.contains(bytes[at]) {
      if bytes[at] &- 0x41 <= 25 { isLowercase = false }
      if bytes[at] != Byte.dot { isOnlyDots = false }
      at &+= 1
    }
    guard !isOnlyDots, at - first <= 255 else { return nil }
    guard at < range.upperBound else { return HostSyntax(range: range, isLowercase: isLowercase) }
    guard bytes[at] == Byte.colon, isPort(bytes, at + 1..<range.upperBound) else { return nil }
    return HostSyntax(range: withoutEmptyPort(bytes, range), isLowercase: isLowercase)
  }

  private static func isPort(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    range.isEmpty || range.count <= 5 && bytes.decimal(range, atMost: 65_535) != nil
  }

  /// IPv6 literals are rare, so a copy is cheap enough.
  private static func parseLiteral(_ bytes: Span<UInt8>, _ range: Range<Int>) -> HostSyntax? {
    let copy = bytes.copied(range)
    guard let host = Authority.parseHost(copy[...]) else { return nil }
    return HostSyntax(range: withoutEmptyPort(bytes, range), isLowercase: copy.starts(with: host))
  }

  private static func withoutEmptyPort(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    bytes[range.upperBound - 1] == Byte.colon ? range.lowerBound..<range.upperBound - 1 : range
  }
}
