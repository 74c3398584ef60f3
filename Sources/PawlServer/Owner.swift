import COpenSSL
import PawlConfig
import PawlHTTP

/// Who a private response belongs to (`owner` in the configuration): a hash of each thing the creator sent that the
/// route binds by. Only what the creator sent binds; the hash is stored, never the credential.
enum Owner {
  /// 32 octets of SHA-256 for the URL; then, for each rule that found something, one for the rule and 32 for what.
  static func binding(_ request: IncomingRequest) -> [UInt8] {
    request.route.owner.enumerated().reduce(into: place(request)) { binding, rule in
      guard let value = value(of: rule.element, in: request.head.fields) else { return }
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
        let value = value(of: rule, in: request.head.fields),
        constantTimeEqual(sha256(value), binding[(start + 1)..<(start + 33)])
      else { return false }
    }
    return true
  }

  private static func place(_ request: IncomingRequest) -> [UInt8] {
    sha256(Array(request.head.authority) + [0] + Array(request.head.target))
  }

  private static func value(of rule: OwnerRule, in fields: Fields) -> [UInt8]? {
    switch rule {
    case .authorization: fields.only(.authorization).map(Credential.identity)
    case .cookie(let name): cookie(name, in: fields)
    // A certificate and an auth-request's answer come with TLS and with uploads; without them nothing is bound.
    case .clientCertificate, .authRequest: nil
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

  private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    return digest
  }
}
