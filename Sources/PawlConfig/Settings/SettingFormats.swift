extension ValueFormat where Value == String {
  /// The name of another section. Whether that section exists is checked later.
  static var name: ValueFormat {
    ValueFormat("the name of a section", show: { $0 }) { SectionLabel.isName($0) ? $0 : nil }
  }
}

extension ValueFormat where Value == FormEntry {
  /// A form field with its value. In the value, `{KEY}` is replaced by the value of that key in the upload's metadata.
  static var formEntry: ValueFormat {
    ValueFormat("a form field such as title={title}", show: \.written) { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, isFieldName(parts[0]), bracesPair(parts[1]) else { return nil }
      return FormEntry(name: parts[0], template: parts[1])
    }
  }

  private static func isFieldName(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f && $0 != "\"" }
  }

  /// Whether each opening brace is closed (`{KEY}`) or doubled; `{{` is a literal brace.
  private static func bracesPair(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
      rest = rest[(open + 1)...]
      if rest.first == UInt8(ascii: "{") {
        rest = rest.dropFirst()
        continue
      }
      guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return false }
      rest = rest[(close + 1)...]
    }
    return true
  }
}

extension ValueFormat where Value == PathPattern {
  static var pathPattern: ValueFormat {
    ValueFormat(
      "a path that begins with /, with * at most at its end", show: \.description,
      repaired: { text in text.hasPrefix("/") || text.isEmpty ? nil : "/" + text }
    ) { text in
      let isPrefix = text.hasSuffix("*")
      let literal = isPrefix ? String(text.dropLast()) : text
      guard ValueFormat<String>.isPath(literal), !literal.contains("*") else { return nil }
      return PathPattern(literal: Array(literal.utf8), isPrefix: isPrefix)
    }
  }
}

extension ValueFormat where Value == CookiePattern {
  static var cookiePattern: ValueFormat {
    ValueFormat(
      "none, all, analytics, or names of cookies such as lang or pref_*", words: ["none", "all", "analytics"],
      show: \.description
    ) { text in
      switch text.lowercased() {
      case "all", "*": return .all
      case "analytics": return .analytics
      default: return ValueFormat<OwnerRule>.isToken(text[...]) ? .named(text) : nil
      }
    }
  }
}

extension ValueFormat where Value == OwnerRule {
  static var ownerRule: ValueFormat {
    ValueFormat(
      "none, authorization, client-certificate, cookie:NAME or auth-request:FIELD",
      words: ["none", "authorization", "client-certificate"], show: \.description
    ) { text in
      switch text.lowercased() {
      case "authorization": return .authorization
      case "client-certificate": return .clientCertificate
      default: break
      }
      let parts = text.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, isToken(parts[1]) else { return nil }
      switch parts[0].lowercased() {
      case "cookie": return .cookie(name: String(parts[1]))
      case "auth-request": return .authRequest(field: parts[1].lowercased())
      default: return nil
      }
    }
  }

  /// Whether the text is a token (RFC 9110 §5.6.2).
  fileprivate static func isToken(_ text: Substring) -> Bool {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    return !text.isEmpty
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || marks.contains($0)
      }
  }
}
