package import PawlHTTP

/// Which cookies of a request count (`key-cookies`, `ignore-cookies`). The others are in no key, and a request that may fill a
/// stored response is sent without them: so no stored response depends on them.
package struct CookieRules: Hashable, Sendable {
  private let keyed: [CookieGlob]
  private let ignored: [CookieGlob]

  /// - Parameters:
  ///   - keyed: the only cookies that count; `nil`: all.
  ///   - ignored: those of them that do not count.
  package init(keyed: [CookieGlob]?, ignored: [CookieGlob]) {
    (self.keyed, self.ignored) = (keyed ?? [CookieGlob("*")], ignored)
  }

  /// Whether a cookie of this name counts. Names are compared byte for byte (RFC 6265 §5.4).
  package func counts(_ name: Bytes) -> Bool {
    keyed.contains { $0.matches(name) } && !ignored.contains { $0.matches(name) }
  }

  /// The fields with the cookies that count, in one line; `nil` where all of them do.
  package func counted(in fields: Fields) -> Fields? {
    var kept: [Bytes] = []
    var isComplete = true
    for line in fields.all(.cookie) {
      for pair in line.split(separator: 0x3b) {
        let pair = pair.trimmed
        if pair.isEmpty { continue }
        // A cookie without a name has an empty one (RFC 6265bis §5.7).
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
  /// The parts between the stars, from the first byte to the last.
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
