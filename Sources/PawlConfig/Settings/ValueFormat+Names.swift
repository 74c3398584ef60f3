extension ValueFormat where Value == String {
  /// Counts from the file it stands in.
  static var path: ValueFormat {
    ValueFormat("a path", show: { $0 }) { (text: String, directory: String) throws(BadValue) -> String in
      if text.isEmpty { throw BadValue(expected: "a path", found: text) }
      return FilePath.resolve(text, from: directory)
    }
  }

  /// The name of another section; whether there is one is judged later.
  static var name: ValueFormat {
    ValueFormat("the name of a section", show: { $0 }) { SectionLabel.isName($0) ? $0 : nil }
  }

  static var host: ValueFormat {
    ValueFormat(
      "a host name without scheme, port or wildcard", show: { $0 }, repaired: repairedHost
    ) { text in
      if text.hasPrefix("["), text.hasSuffix("]"), NetworkAddress(text.dropFirst().dropLast()) != nil {
        return text.lowercased()
      }
      return HostName.isValid(text) ? text.lowercased() : nil
    }
  }

  private static func repairedHost(_ text: String) -> String? {
    if let url = OriginURL(text) { return url.host }
    if let url = OriginURL("http://\(text)"), url.socketPath == nil { return url.host }
    return nil
  }

  static var uploadPrefix: ValueFormat {
    ValueFormat(
      "a path that begins and ends with /", show: { $0 },
      repaired: { text in
        let inner = text.split(separator: "/").joined(separator: "/")
        return isPath("/\(inner)/") && !inner.isEmpty ? "/\(inner)/" : nil
      }
    ) { isPath($0) && $0.hasSuffix("/") && $0 != "/" ? $0 : nil }
  }

  static var requestPath: ValueFormat {
    ValueFormat("a path that begins with /", show: { $0 }, repaired: { isPath("/" + $0) ? "/" + $0 : nil }) {
      isPath($0) ? $0 : nil
    }
  }

  static var formField: ValueFormat {
    ValueFormat("the name of a form field", show: { $0 }) { text in
      !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0 != "\"" }
        ? text : nil
    }
  }

  /// `*`, or an origin as browsers send it: scheme, host and port, nothing after.
  static var crossOrigin: ValueFormat {
    ValueFormat(
      "off, * or an origin such as https://app.example.com", show: { $0 },
      repaired: { text in OriginURL(text).flatMap { $0.socketPath == nil ? bareOrigin($0) : nil } }
    ) { text in
      if text == "*" || text == "null" { return text }
      guard let url = OriginURL(text), url.socketPath == nil, url.basePath.isEmpty, !text.hasSuffix("/") else {
        return nil
      }
      return url.description
    }
  }

  private static func bareOrigin(_ url: OriginURL) -> String {
    var bare = url
    bare.basePath = ""
    return bare.description
  }

  /// Visible ASCII that begins with a slash and has neither query nor fragment.
  fileprivate static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/")
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }
}

extension ValueFormat where Value == FormEntry {
  /// What is filled in stands in braces.
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

  /// `{KEY}`, and `{{` for a brace.
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

extension ValueFormat where Value == ListenAddress {
  static var listenAddress: ValueFormat {
    let expected = "an address such as 127.0.0.1:8080, [::]:443 or unix:PATH"
    return ValueFormat(expected, show: \.description) {
      (text: String, directory: String) throws(BadValue) -> ListenAddress in
      if let address = ListenAddress(text, directory: directory) {
        // `sockaddr_un.sun_path` holds 108 bytes, the closing zero included.
        guard case .unix(let path) = address, path.utf8.count > 107 else { return address }
        throw BadValue("expected a socket path of at most 107 bytes, found \(path.utf8.count): \(path)")
      }
      throw BadValue(expected: expected, found: text, suggestion: ListenAddress.repaired(text))
    }
  }
}

extension ValueFormat where Value == AddressRange {
  static var addressRange: ValueFormat {
    ValueFormat(
      "an address, a range such as 10.0.0.0/8 or fd00::/8, or unix:", show: \.description,
      repaired: { $0.lowercased() == "unix" ? "unix:" : nil }
    ) { AddressRange($0) }
  }
}

extension ValueFormat where Value == OriginURL {
  static var originURL: ValueFormat {
    ValueFormat(
      "a URL such as http://127.0.0.1:9000", show: \.description,
      repaired: { text in text.contains("://") ? nil : OriginURL("http://\(text)").map { _ in "http://\(text)" } }
    ) { OriginURL($0) }
  }
}

extension ValueFormat where Value == ProcessSettings.AccessLog {
  static var accessLog: ValueFormat {
    ValueFormat(
      "stderr, off or a path",
      show: {
        switch $0 {
        case .standardError: "stderr"
        case .off: "off"
        case .file(let path): path
        }
      }
    ) { (text: String, directory: String) throws(BadValue) -> ProcessSettings.AccessLog in
      switch text.lowercased() {
      case "stderr": return .standardError
      case "off": return .off
      case "stdout": throw BadValue(expected: "stderr, off or a path", found: text, suggestion: "/dev/stdout")
      case "": throw BadValue(expected: "stderr, off or a path", found: text)
      default:
        // A word that is nearly one of the two is a mistake rather than the name of a file.
        if !text.contains("/"), !text.contains("."), let near = nearestMatch(text, among: ["stderr", "off"]) {
          throw BadValue(expected: "stderr, off or a path", found: text, suggestion: near)
        }
        return .file(path: FilePath.resolve(text, from: directory))
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

  /// RFC 9110 §5.6.2.
  private static func isToken(_ text: Substring) -> Bool {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    return !text.isEmpty
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || marks.contains($0)
      }
  }
}
