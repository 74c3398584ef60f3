/// The target of a request line (RFC 9112 §3.2). Bytes are kept as they came: percent-encoding, `//` and `/../` mean
/// what the origin makes of them.
package enum RequestTarget: Hashable, Sendable {
  /// `/path?query`
  case origin(Bytes)
  /// `http://host/path?query`: scheme and authority lower-case, `target` what is forwarded in origin-form.
  case absolute(scheme: Bytes, authority: Bytes, target: Bytes)
  /// `*`, of OPTIONS only.
  case asterisk

  /// `nil` when it must be answered with 400: blanks, controls, `\`, a fragment, bytes beyond ASCII, no leading `/`,
  /// `*` of another method, an authority that is none, the authority-form of CONNECT.
  package static func parse(_ target: Bytes, method: Method) -> RequestTarget? {
    guard let first = target.first, method != .connect, target.allSatisfy(isAllowed) else { return nil }
    if first == 0x2f { return .origin(target) }
    if target.equals("*") { return method == .options ? .asterisk : nil }
    return absolute(target, method)
  }

  /// What is forwarded and, with the authority, identifies the resource.
  package var forwarded: Bytes {
    switch self {
    case .origin(let target), .absolute(_, _, let target): target
    case .asterisk: Bytes("*")
    }
  }

  /// The forwarded target without its query.
  package var path: Bytes { Self.path(of: forwarded) }

  /// A target in origin-form without its query.
  package static func path(of target: Bytes) -> Bytes { target.prefix { $0 != 0x3f } }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7f && byte != 0x5c && byte != 0x23
  }

  private static func absolute(_ target: Bytes, _ method: Method) -> RequestTarget? {
    guard let colon = target.firstIndex(of: 0x3a), target[colon...].hasPrefix("://"),
      let scheme = scheme(target[..<colon])
    else { return nil }
    let rest = target[(colon + 3)...]
    let end = rest.firstIndex { $0 == 0x2f || $0 == 0x3f } ?? rest.endIndex
    guard let authority = Authority.parseHost(rest[..<end]) else { return nil }
    return .absolute(scheme: scheme, authority: authority, target: originForm(rest[end...], method))
  }

  /// An empty path is `/`, of OPTIONS without a query `*` (RFC 9112 §3.2.4).
  private static func originForm(_ pathAndQuery: Bytes, _ method: Method) -> Bytes {
    guard let first = pathAndQuery.first else { return Bytes(method == .options ? "*" : "/") }
    return first == 0x2f ? pathAndQuery : [0x2f] + pathAndQuery
  }

  private static func scheme(_ text: Bytes) -> Bytes? {
    guard text.first?.isLetter == true,
      text.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2b || $0 == 0x2d || $0 == 0x2e })
    else { return nil }
    return text.map(\.lowercasedASCII)[...]
  }
}
