import PawlHTTP

/// `Strict-Transport-Security` (RFC 6797): where a route has its own, the origin's does not count, and over a connection
/// in clear there is none (§7.2).
enum StrictTransportField {
  static let name = Array("Strict-Transport-Security".utf8)

  static func remove(from fields: inout Fields) {
    fields.removeAll { field, spelling, _ in
      field == .other && spelling.count == name.count && spelling.equalsIgnoringCase(name)
    }
  }
}

extension IncomingRequest {
  /// Tells browsers to come over TLS only, where the route says so.
  func dressForTransport(_ head: inout ResponseHead) {
    guard isRouted, let value = route.strictTransport else { return }
    StrictTransportField.remove(from: &head.fields)
    if isSecure { head.fields.append(named: StrictTransportField.name, value) }
  }
}
