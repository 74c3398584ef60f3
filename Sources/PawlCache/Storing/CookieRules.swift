package import PawlHTTP

/// The rules that decide which cookies of a request count (`key-cookies`, `ignore-cookies`). All other cookies are in no cache
/// key, and a request whose response may be stored is sent without them, so no stored response depends on them.
package struct CookieRules: Hashable, Sendable {
  private let keyed: [CookieGlob]
  private let ignored: [CookieGlob]

  /// - Parameters:
  ///   - keyed: the only cookies that count; `nil`: all.
  ///   - ignored: cookies that do not count, even if `keyed` names them.
  package init(keyed: [CookieGlob]?, ignored: [CookieGlob]) {
    (self.keyed, self.ignored) = (keyed ?? [CookieGlob("*")], ignored)
  }

  /// Whether a cookie of this name counts. Names are compared byte for byte (RFC 6265 §5.4).
  package func counts(_ name: Bytes) -> Bool {
    keyed.contains { $0.matches(name) } && !ignored.contains { $0.matches(name) }
  }

  /// The fields with only the cookies that count, in one `Cookie` line; `nil` where all cookies count.
  package func counted(in fields: Fields) -> Fields? {
    var kept: [Bytes] = []
    var isComplete = true
    for line in fields.all(.cookie) {
      for pair in line.split(separator: 0x3b) {
        let pair = pair.trimmed
        if pair.isEmpty { continue }
        // A pair without `=` is a cookie with an empty name (RFC 6265bis §5.7).
        let name = pair.firstIndex(of: 0x3d).map { pair[..<$0].trimmed } ?? []
        if counts(name) { kept.append(pair) } else { isComplete = false }
      }
    }
    if isComplete { return nil }
    var counted = fields
    counted.removeAll(.cookie)
    if !kept.isEmpty { counted.append(.cookie, Array(kept.joined(separator: [0x3b, 0x20]))) }
    return counted
  }
}

/// A cookie name, or a pattern of names in which `*` stands for any number of bytes.
package struct CookieGlob: Hashable, Sendable {
  /// The parts of the pattern between its stars, in order.
  private let parts: [[UInt8]]

  package init(_ text: String) {
    parts = Array(text.utf8).split(separator: 0x2a, omittingEmptySubsequences: false).map(Array.init)
  }

  package func matches(_ name: Bytes) -> Bool {
    guard let first = parts.first, let last = parts.last else { return false }
    if parts.count == 1 { return name.elementsEqual(first) }
    guard name.count >= first.count + last.count, name.starts(with: first),
      name.suffix(last.count).elementsEqual(last)
    else { return false }
    var rest = name.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.indices.first(where: { rest[$0...].starts(with: part) }) else { return false }
      rest = rest[(found + part.count)...]
    }
    return true
  }
}
