/// Cache directives of a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246). Times are in seconds.
///
/// Parsed tolerantly, and in case of doubt in the more restrictive way: if a directive comes twice, the stricter value counts; a
/// lifetime that is no number is 0; `private="..."` and `no-cache="..."` count as if they had no argument. No time exceeds 2^31.
package struct CacheControl: Hashable, Sendable {
  package var noStore = false, noCache = false, isPrivate = false, isPublic = false
  package var mustRevalidate = false, proxyRevalidate = false, mustUnderstand = false
  package var onlyIfCached = false, noTransform = false, immutable = false
  package var maxAge: Int64?, sMaxAge: Int64?, minFresh: Int64?
  package var staleWhileRevalidate: Int64?, staleIfError: Int64?
  /// `max-stale`; `Int64.max` where the directive has no value: any staleness is accepted.
  package var maxStale: Int64?

  /// No directives.
  package init() {}

  /// Parses the values of all `Cache-Control` lines of one message.
  package init(_ lines: [Bytes]) {
    for line in lines {
      for element in line.listElements { read(element) }
    }
  }

  /// Parses the directives of a message with these fields.
  package init(_ fields: Fields) {
    for line in fields.lines where line.name == .cacheControl {
      for element in fields.value(line).listElements { read(element) }
    }
  }

  /// The largest time, in seconds; larger ones are reduced to it (RFC 9111 §1.2.2).
  package static let longest: Int64 = 1 << 31

  private mutating func read(_ element: Bytes) {
    var scanner = ByteScanner(element)
    guard let name = scanner.token() else { return }
    switch name.count {
    case 6: if name.equalsIgnoringCase("public") { isPublic = true }
    case 7:
      if name.equalsIgnoringCase("private") { isPrivate = true }
      if name.equalsIgnoringCase("max-age") { maxAge = Self.smaller(maxAge, Self.lifetime(&scanner)) }
    case 8:
      if name.equalsIgnoringCase("no-store") { noStore = true }
      if name.equalsIgnoringCase("no-cache") { noCache = true }
      if name.equalsIgnoringCase("s-maxage") { sMaxAge = Self.smaller(sMaxAge, Self.lifetime(&scanner)) }
    case 9:
      if name.equalsIgnoringCase("immutable") { immutable = true }
      if name.equalsIgnoringCase("max-stale") { readMaxStale(&scanner) }
      if name.equalsIgnoringCase("min-fresh"), let value = Self.seconds(&scanner) {
        minFresh = max(minFresh ?? 0, value)
      }
    default: readLong(name, &scanner)
    }
  }

  private mutating func readLong(_ name: Bytes, _ scanner: inout ByteScanner) {
    if name.equalsIgnoringCase("must-revalidate") { mustRevalidate = true }
    if name.equalsIgnoringCase("proxy-revalidate") { proxyRevalidate = true }
    if name.equalsIgnoringCase("must-understand") { mustUnderstand = true }
    if name.equalsIgnoringCase("only-if-cached") { onlyIfCached = true }
    if name.equalsIgnoringCase("no-transform") { noTransform = true }
    if name.equalsIgnoringCase("stale-if-error") {
      staleIfError = Self.smaller(staleIfError, Self.lifetime(&scanner))
    }
    if name.equalsIgnoringCase("stale-while-revalidate") {
      staleWhileRevalidate = Self.smaller(staleWhileRevalidate, Self.lifetime(&scanner))
    }
  }

  private mutating func readMaxStale(_ scanner: inout ByteScanner) {
    maxStale = Self.smaller(maxStale, scanner.isAtEnd ? .max : Self.lifetime(&scanner))
  }

  private static func smaller(_ known: Int64?, _ new: Int64) -> Int64 { min(known ?? .max, new) }

  /// Reads `=` and a number; 0 for anything else.
  private static func lifetime(_ scanner: inout ByteScanner) -> Int64 { seconds(&scanner) ?? 0 }

  /// Reads `=` and a number, quoted or not, up to the end of the element.
  private static func seconds(_ scanner: inout ByteScanner) -> Int64? {
    guard scanner.skip(0x3d) else { return nil }
    if let quoted = scanner.quotedString() {
      guard scanner.isAtEnd else { return nil }
      scanner = ByteScanner(quoted)
    }
    guard let value = scanner.saturatingDecimal(), scanner.isAtEnd else { return nil }
    return min(Int64(value), longest)
  }
}
