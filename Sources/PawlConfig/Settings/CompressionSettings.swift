/// The keys `compress…` of a site or a route. They decide which responses pawl compresses; the origin is asked for uncompressed
/// responses (`identity`).
package struct CompressionSettings: Hashable, Sendable {
  /// Whether responses to requests with cookies or credentials are compressed. `auto`: only if the origin itself compresses such
  /// responses when it is asked to.
  package enum Credentials: String, Hashable, Sendable, CaseIterable { case auto, on, off }
  /// The content codings, by their names in `Accept-Encoding`.
  package enum Coding: String, Hashable, Sendable, CaseIterable { case zstd, br, gzip }

  /// The media types that are compressed. If the list is empty, nothing is compressed.
  package var types: [CompressedType] = [.text]
  /// The smallest content that is compressed, in bytes.
  package var least: UInt64 = 1 << 10
  /// The largest content that is compressed, in bytes.
  package var greatest: UInt64 = 8 << 20
  /// Whether content that the browser saves as a file (`Content-Disposition: attachment`) is compressed, too.
  package var attachments = false
  package var credentials = Credentials.auto
  /// The codings in order of preference, for a client that accepts several with the same weight. The list is never empty.
  package var codings: [Coding] = [.zstd, .br, .gzip]

  package init() {}

  static var keys: [Key<CompressionSettings>] {
    [
      .list("compress", \.types, .compressedType, empty: "off", commas: true),
      .scalar("compress-min", \.least, .size()),
      .scalar("compress-max", \.greatest, .size()),
      .scalar("compress-attachments", \.attachments, .boolean),
      .scalar("compress-credentials", \.credentials, .choice()),
      .list("compress-codings", \.codings, .coding, empty: nil, commas: true),
    ]
  }
}

/// Media types of content that is compressed.
package enum CompressedType: Hashable, Sendable, CustomStringConvertible {
  /// Text, and other types whose content can be compressed like text.
  case text
  /// A pattern in lower case: `TYPE/SUBTYPE`, `TYPE/*` or `TYPE/*+SUFFIX`.
  case pattern(String)

  package var description: String {
    switch self {
    case .text: "text"
    case .pattern(let pattern): pattern
    }
  }
}

extension ValueFormat where Value == CompressedType {
  private static var expected: String { "off, text, or media types such as text/html, text/* or application/*+json" }

  static var compressedType: ValueFormat {
    ValueFormat(expected, show: \.description) { (text: String, _: String) throws(BadValue) -> CompressedType in
      let lowered = text.lowercased()
      if lowered == "text" || lowered == "on" { return .text }
      let parts = lowered.split(separator: "/", omittingEmptySubsequences: false)
      if parts.count == 2, isName(parts[0]), isSubtype(parts[1]) { return .pattern(lowered) }
      throw refusal(of: text, lowered)
    }
  }

  private static func refusal(of text: String, _ lowered: String) -> BadValue {
    if lowered == "*" || lowered == "*/*" {
      return BadValue(
        "expected \(expected), found \"\(text)\": images and archives are compressed already", suggestion: "text")
    }
    if let semicolon = lowered.firstIndex(of: ";"), semicolon > lowered.startIndex {
      let type = String(lowered[..<semicolon])
      return BadValue("expected media types without parameters, found \"\(text)\"", suggestion: type)
    }
    if lowered.contains("/"), lowered.contains("*") {
      return BadValue(
        "a star stands for a whole subtype (text/*) or for what is before its suffix (application/*+json), found \"\(text)\""
      )
    }
    let ending = lowered.drop { $0 == "*" || $0 == "." }
    let near = endings[String(ending)] ?? nearestMatch(text, among: ["off", "text"] + endings.values.sorted())
    return BadValue(expected: expected, found: text, suggestion: near)
  }

  /// The media type that a user probably means by the extension of a file name.
  private static var endings: [String: String] {
    [
      "html": "text/html", "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
      "javascript": "text/javascript", "json": "application/json", "xml": "application/xml", "txt": "text/plain",
      "plain": "text/plain", "md": "text/markdown", "csv": "text/csv", "svg": "image/svg+xml",
      "wasm": "application/wasm", "ttf": "font/ttf", "all": "text", "default": "text", "auto": "text", "yes": "on",
      "no": "off",
    ]
  }

  private static func isSubtype(_ text: Substring) -> Bool {
    guard text.hasPrefix("*") else { return isName(text) }
    return text == "*" || (text.hasPrefix("*+") && isName(text.dropFirst(2)))
  }

  /// Whether the text is a `restricted-name` (RFC 6838 §4.2). Unlike in the RFC, the first character may be any of the allowed
  /// ones, and the length has no limit.
  private static func isName(_ text: Substring) -> Bool {
    let marks = Set("!#$&-^_.+".utf8)
    return !text.isEmpty
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || marks.contains($0) }
  }
}

extension ValueFormat where Value == CompressionSettings.Coding {
  static var coding: ValueFormat {
    let other = ["brotli": "br", "zstandard": "zstd", "x-gzip": "gzip", "gz": "gzip", "deflate": "gzip"]
    return ValueFormat(
      "zstd, br or gzip", words: CompressionSettings.Coding.allCases.map(\.rawValue), show: \.rawValue,
      repaired: { other[$0.lowercased()] }
    ) { CompressionSettings.Coding(rawValue: $0.lowercased()) }
  }
}
