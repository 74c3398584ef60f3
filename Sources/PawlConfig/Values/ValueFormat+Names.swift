extension ValueFormat where Value == String {
  /// A path. A relative one begins at the directory of the configuration file in which it is written.
  static var path: ValueFormat {
    ValueFormat("a path", show: { $0 }) { (text: String, directory: String) throws(BadValue) -> String in
      if text.isEmpty { throw BadValue(expected: "a path", found: text) }
      return FilePath.resolve(text, from: directory)
    }
  }

  /// The name of a user or a group. Whether it exists is found out when pawl starts.
  static var account: ValueFormat {
    ValueFormat("the name of a user or a group", show: { $0 }) { text in
      let isName = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x3a && $0 != 0x2f }
      return isName && !text.isEmpty && text.utf8.first != 0x2d && text.utf8.count <= 32 ? text : nil
    }
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

  /// `*`, `null`, or a web origin as browsers send it in `Origin` (RFC 6454): scheme, host and port, and nothing after them.
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

  /// Whether the text is a path: visible ASCII that begins with a slash, without query and fragment.
  static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/")
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
  }
}

extension ValueFormat where Value == ListenAddress {
  static var listenAddress: ValueFormat {
    let expected = "an address such as 127.0.0.1:8080, [::]:443, unix:PATH or systemd:NAME"
    return ValueFormat(expected, show: \.description) {
      (text: String, directory: String) throws(BadValue) -> ListenAddress in
      if let address = ListenAddress(text, directory: directory) {
        // `sockaddr_un.sun_path` holds 108 bytes, the final zero byte included.
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
