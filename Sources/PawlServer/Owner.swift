import PawlConfig
import PawlHTTP

/// Who a private response or an upload belongs to (`owner` in the configuration): a hash of each thing the creator sent that the
/// route binds by. Only what the creator sent binds; the hash is stored, never the credential.
enum Owner {
  /// 32 octets of SHA-256 for the URL; then, for each rule that found something, one for the rule and 32 for what.
  static func binding(_ request: IncomingRequest) -> [UInt8] {
    request.route.owner.enumerated().reduce(into: place(request)) { binding, rule in
      guard let value = value(of: rule.element, in: request) else { return }
      binding.append(UInt8(truncatingIfNeeded: rule.offset))
      binding.append(contentsOf: sha256(value))
    }
  }

  /// Whether this request comes from whom `binding` names.
  static func matches(_ binding: [UInt8], _ request: IncomingRequest) -> Bool {
    guard binding.count >= 32, (binding.count - 32) % 33 == 0,
      constantTimeEqual(place(request), binding[..<32])
    else { return false }
    let rules = request.route.owner
    for start in stride(from: 32, to: binding.count, by: 33) {
      guard let rule = rules.indices.contains(Int(binding[start])) ? rules[Int(binding[start])] : nil,
        let value = value(of: rule, in: request),
        constantTimeEqual(sha256(value), binding[(start + 1)..<(start + 33)])
      else { return false }
    }
    return true
  }

  private static func place(_ request: IncomingRequest) -> [UInt8] {
    sha256(Array(request.head.authority) + [0] + Array(request.head.target))
  }

  // MARK: Of an upload

  /// Who an upload belongs to: for each rule that found something 32 octets, whatever its URL. Empty: nobody.
  /// - Parameter allowed: the fields of the answer to `auth-request`.
  static func ofUpload(_ request: IncomingRequest, allowed: Fields = Fields()) -> [UInt8] {
    marks(request, allowed).flatMap(\.self)
  }

  /// Whether this request comes from whom ``ofUpload(_:allowed:)`` named. Takes as long whatever differs.
  static func owns(_ binding: [UInt8], _ request: IncomingRequest, allowed: Fields = Fields()) -> Bool {
    guard binding.count % 32 == 0 else { return false }
    let marks = marks(request, allowed)
    return stride(from: 0, to: binding.count, by: 32).reduce(true) { matches, start in
      marks.reduce(false) { constantTimeEqual($1, binding[start..<(start + 32)]) || $0 } && matches
    }
  }

  /// Whether that takes the answer to `auth-request`.
  static func needsAuthRequest(_ route: RouteSettings) -> Bool {
    route.owner.contains { if case .authRequest = $0 { true } else { false } }
  }

  private static func marks(_ request: IncomingRequest, _ allowed: Fields) -> [[UInt8]] {
    request.route.owner.compactMap { rule in
      let value: [UInt8]? =
        if case .authRequest(let field) = rule {
          allowed.combined(named: field.utf8).map(Array.init)
        } else {
          value(of: rule, in: request)
        }
      return value.map { sha256(Array(rule.description.utf8) + [0] + $0) }
    }
  }

  private static func value(of rule: OwnerRule, in request: IncomingRequest) -> [UInt8]? {
    switch rule {
    case .authorization: request.head.fields.only(.authorization).map(Credential.identity)
    case .cookie(let name): cookie(name, in: request.head.fields)
    // Issuer and subject: who has renewed the certificate is still the same.
    case .clientCertificate: request.facts.tls?.peerCertificate?.identity
    // An auth-request's answer comes with uploads only; without it nothing is bound.
    case .authRequest: nil
    }
  }

  private static func cookie(_ name: String, in fields: Fields) -> [UInt8]? {
    for line in fields.all(.cookie) {
      for pair in line.split(separator: 0x3b) {
        let pair = pair.trimmed
        guard let equals = pair.firstIndex(of: 0x3d), pair[..<equals].elementsEqual(name.utf8) else { continue }
        return Array(pair[(equals + 1)...])
      }
    }
    return nil
  }

  private static func constantTimeEqual(_ a: [UInt8], _ b: ArraySlice<UInt8>) -> Bool {
    a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func sha256(_ bytes: [UInt8]) -> [UInt8] { UploadNames.sha256(bytes) }
}
