/// A text that is never shown, such as a token.
package struct Secret: Hashable, Sendable, CustomStringConvertible {
  package var text: String
  package init(_ text: String) { self.text = text }

  /// What is shown in its place.
  package static let shown = "(secret)"
  package var description: String { Self.shown }
}

extension ValueFormat where Value == Secret {
  /// A token as it stands in `Authorization: Bearer` (RFC 6750 §2.1). An error message never contains what was found.
  /// - Parameter least: the fewest characters.
  static func secret(least: Int) -> ValueFormat {
    let expected = "at least \(least) letters, digits or any of -._~+/="
    return ValueFormat(expected, show: \.description) { (text: String, _: String) throws(BadValue) -> Secret in
      let isToken = text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || "-._~+/=".utf8.contains(byte)
      }
      var wrong = BadValue("expected \(expected), found another character")
      wrong.isWithoutValue = true
      guard isToken else { throw wrong }
      wrong.message = "expected \(expected), found \(text.utf8.count) characters"
      guard text.utf8.count >= least else { throw wrong }
      return Secret(text)
    }
  }
}
