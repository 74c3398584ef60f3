/// One URL of an upstream: `http://HOST[:PORT][/BASE]`, `https://…` or `http://unix:/PATH`.
package struct OriginURL: Hashable, Sendable, CustomStringConvertible {
  package var isTLS: Bool
  /// A name, or a literal address without brackets; empty for a Unix socket.
  package var host: String
  package var port: UInt16
  /// The prefix of every request's path: empty, or `/base` without a slash at its end.
  package var basePath: String
  /// The path of the socket, if the origin listens on a Unix socket.
  package var socketPath: String?

  package var description: String {
    if let socketPath { return "http://unix:\(socketPath)" }
    let shown = host.contains(":") ? "[\(host)]" : host
    let standard: UInt16 = isTLS ? 443 : 80
    return "\(isTLS ? "https" : "http")://\(shown)\(port == standard ? "" : ":\(port)")\(basePath)"
  }

  /// Parses a URL; `nil` if it has user information, a query, a fragment, or characters outside RFC 3986.
  package init?(_ text: String) {
    let lower = text.lowercased()
    guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return nil }
    isTLS = lower.hasPrefix("https://")
    let rest = text.dropFirst(isTLS ? 8 : 7)
    guard rest.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), !rest.contains(where: { "?#@\"<>\\^`{|}".contains($0) })
    else { return nil }
    if rest.hasPrefix("unix:") {
      let path = rest.dropFirst("unix:".count)
      guard !isTLS, path.hasPrefix("/"), path.count > 1 else { return nil }
      (host, port, basePath, socketPath) = ("", 0, "", String(path))
      return
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    guard let (host, port) = Self.authority(rest[..<slash]) else { return nil }
    self.host = host
    self.port = port ?? (isTLS ? 443 : 80)
    var base = rest[slash...]
    while base.hasSuffix("/") { base.removeLast() }
    basePath = String(base)
  }

  private static func authority(_ text: Substring) -> (host: String, port: UInt16?)? {
    var host = text
    var portText: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      guard host.contains(":"), NetworkAddress(host) != nil else { return nil }
      let after = text[text.index(after: end)...]
      if !after.isEmpty {
        guard after.first == ":" else { return nil }
        portText = after.dropFirst()
      }
    } else {
      if let colon = text.firstIndex(of: ":") { (host, portText) = (text[..<colon], text[text.index(after: colon)...]) }
      guard HostName.isValid(host) else { return nil }
    }
    guard let portText else { return (host.lowercased(), nil) }
    guard let number = Quantity.number(portText), let port = UInt16(exactly: number), port > 0 else { return nil }
    return (host.lowercased(), port)
  }
}

/// Host names as in DNS and `/etc/hosts`; underscores are allowed.
enum HostName {
  static func isValid(_ text: some StringProtocol) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 253 else { return false }
    let labels = (text.hasSuffix(".") ? text.dropLast() : text[...]).split(
      separator: ".", omittingEmptySubsequences: false)
    let areValid = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { isNameByte($0) }
    }
    guard areValid, let last = labels.last else { return false }
    return last.utf8.allSatisfy({ (48...57).contains($0) }) ? NetworkAddress(text) != nil : true
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
  }
}
