import PawlHTTP

/// `Strict-Transport-Security` (RFC 6797). The value of a route replaces the origin's; the field is not sent without TLS (§7.2).
enum StrictTransportField {
  static let name = Array("Strict-Transport-Security".utf8)

  static func remove(from fields: inout Fields) {
    fields.removeAll { field, spelling, _ in
      field == .other && spelling.count == name.count && spelling.equalsIgnoringCase(name)
    }
  }
}

extension IncomingRequest {
  /// Adds the field, where the route has it: browsers then use TLS only.
  func dressForTransport(_ head: inout ResponseHead) {
    guard isRouted, let value = route.strictTransport else { return }
    StrictTransportField.remove(from: &head.fields)
    if isSecure { head.fields.append(named: StrictTransportField.name, value) }
  }
}
