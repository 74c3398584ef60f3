/// The URL under load, split into its parts.
package struct Target: Hashable, Sendable {
  /// The reason why a URL cannot be used.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    package var description: String
  }

  package let url: String
  package let isSecure: Bool
  /// The host, without the brackets of an IPv6 address.
  package let host: String
  package let port: UInt16
  /// The value of `Host`.
  package let authority: String
  /// Path and query, as in the request line.
  package let path: String

  /// Parses `http://HOST[:PORT]/PATH` or `https://…`. The part after `#` is dropped.
  package init(_ url: String) throws(Problem) {
    self.url = url
    let rest: Substring
    switch url {
    case _ where url.lowercased().hasPrefix("http://"): (isSecure, rest) = (false, url.dropFirst(7))
    case _ where url.lowercased().hasPrefix("https://"): (isSecure, rest) = (true, url.dropFirst(8))
    default: throw Problem(description: "'\(url)' is not a URL that begins with http:// or https://")
    }
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    var authority = rest[..<end]
    if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
    let path = rest[end...].prefix { $0 != "#" }
    self.path = path.hasPrefix("/") ? String(path) : "/" + path
    guard self.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Problem(description: "the path of '\(url)' holds characters that have to be percent-encoded")
    }
    (host, port) = try Self.split(authority, isSecure, url)
    self.authority = String(authority)
  }

  private static func split(
    _ authority: Substring, _ isSecure: Bool, _ url: String
  ) throws(Problem) -> (String, UInt16) {
    var (host, digits) = (authority, Substring())
    if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
      host = authority[authority.index(after: authority.startIndex)..<close]
      let after = authority[authority.index(after: close)...]
      guard after.isEmpty || after.hasPrefix(":") else { throw Problem(description: "'\(url)' has no valid host") }
      digits = after.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      (host, digits) = (authority[..<colon], authority[authority.index(after: colon)...])
    }
    guard !host.isEmpty else { throw Problem(description: "'\(url)' names no host") }
    guard !digits.isEmpty else { return (host.lowercased(), isSecure ? 443 : 80) }
    guard let port = UInt16(digits), port > 0 else {
      throw Problem(description: "'\(digits)' in '\(url)' is not a port")
    }
    return (host.lowercased(), port)
  }
}
