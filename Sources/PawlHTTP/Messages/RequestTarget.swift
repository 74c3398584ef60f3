/// The target of a request line (RFC 9112 §3.2). Its bytes are kept as they came: the origin decides what percent-encoding, `//`
/// and `/../` mean.
package enum RequestTarget: Hashable, Sendable {
  /// `/path?query`
  case origin(Bytes)
  /// `http://host/path?query`: scheme and authority in lower case, `target` in origin-form, as it is forwarded.
  case absolute(scheme: Bytes, authority: Bytes, target: Bytes)
  /// `*`, of OPTIONS only.
  case asterisk

  /// `nil` for a target that is refused with 400: blanks, controls, `\`, a fragment, bytes beyond ASCII, no leading `/`, `*` with
  /// another method than OPTIONS, an invalid authority, the authority-form of CONNECT.
  package static func parse(_ target: Bytes, method: Method) -> RequestTarget? {
    guard let first = target.first, method != .connect, target.allSatisfy(isAllowed) else { return nil }
    if first == 0x2f { return .origin(target) }
    if target.equals("*") { return method == .options ? .asterisk : nil }
    return absolute(target, method)
  }

  /// The bytes that are forwarded and, with the authority, identify the resource.
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

  /// An empty path becomes `/`, or `*` for OPTIONS without a query (RFC 9112 §3.2.4).
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
