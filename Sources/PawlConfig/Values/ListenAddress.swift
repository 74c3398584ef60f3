/// An address on which pawl accepts connections.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A literal address without brackets. With port 0 the system picks a port.
  case internet(host: String, port: UInt16)
  case unix(path: String)
  /// A socket that the service manager passes to pawl, by its name or its number.
  case inherited(name: String)

  /// `127.0.0.1:8080`, `[::1]:8080`, `unix:PATH` or `systemd:NAME`.
  package var description: String {
    switch self {
    case .internet(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .inherited(let name): "systemd:\(name)"
    }
  }

  package var isUnix: Bool { if case .unix = self { true } else { false } }

  /// Whether only this machine can connect.
  var isLoopback: Bool {
    guard case .internet(let host, _) = self else { return true }
    guard let bytes = NetworkAddress(host)?.bytes else { return false }
    return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
  }

  /// Whether one of two different addresses is all addresses of the machine, and the other one of these: they cannot both be bound.
  func overlaps(_ other: ListenAddress) -> Bool {
    guard case .internet(let host, let port) = self, case .internet(let otherHost, port) = other, port != 0,
      let own = NetworkAddress(host)?.bytes, let others = NetworkAddress(otherHost)?.bytes, own.count == others.count
    else { return false }
    return own == others || own.allSatisfy { $0 == 0 } || others.allSatisfy { $0 == 0 }
  }

  /// - Parameter directory: the directory that a relative socket path is resolved against.
  init?(_ text: String, directory: String) {
    if text.hasPrefix("unix:") {
      let path = text.dropFirst("unix:".count)
      guard !path.isEmpty else { return nil }
      self = .unix(path: FilePath.resolve(String(path), from: directory))
      return
    }
    if text.hasPrefix("systemd:") {
      let name = text.dropFirst("systemd:".count)
      // The names that systemd allows (`fdname_is_valid`): printable ASCII without a colon, at most 255 characters.
      guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x3a })
      else { return nil }
      self = .inherited(name: String(name))
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = Quantity.number(text[text.index(after: colon)...]),
      let port = UInt16(exactly: port)
    else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard NetworkAddress(host) != nil else { return nil }
    self = .internet(host: host, port: port)
  }

  /// Returns the address that a user probably means by a text in another form.
  static func repaired(_ text: String) -> String? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 1, let port = Quantity.number(text), port <= 65535 { return "127.0.0.1:\(port)" }
    if parts.count == 1, NetworkAddress(text) != nil { return "\(text):8080" }
    guard let last = parts.last, let port = Quantity.number(last), port <= 65535 else {
      return NetworkAddress(text) == nil ? nil : "[\(text)]:8080"
    }
    let host = text.dropLast(last.count + 1)
    switch host {
    case "", "*": return "0.0.0.0:\(port)"
    case "localhost": return "127.0.0.1:\(port)"
    default: return host.contains(":") && NetworkAddress(host) != nil ? "[\(host)]:\(port)" : nil
    }
  }
}
