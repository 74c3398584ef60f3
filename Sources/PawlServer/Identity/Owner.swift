import PawlBase
import PawlConfig
import PawlHTTP
import PawlTLS

/// The owner of an upload (`owner` in the configuration): one hash for each rule of the route that found a credential in the
/// request that created the upload.
///
/// Only the credentials of that request count. The hash is stored, never the credential. Stored responses have a ``PrivateOwner``
/// instead.
enum Owner {
  /// Returns the owner of an upload that this request creates: 32 bytes for each rule that found a credential. Empty: the upload
  /// has no owner.
  /// - Parameter allowed: the fields of the response to `auth-request`.
  static func ofUpload(_ request: IncomingRequest, allowed: Fields = Fields()) -> [UInt8] {
    marks(request, allowed).flatMap(\.self)
  }

  /// Whether this request comes from the owner that ``ofUpload(_:allowed:)`` returned. The owner may have been found by rules
  /// that were removed from `owner` later. Runs in constant time.
  static func owns(_ binding: [UInt8], _ request: IncomingRequest, allowed: Fields = Fields()) -> Bool {
    guard binding.count % 32 == 0 else { return false }
    return areAll(binding, among: marks(request, allowed)) || areAll(binding, among: formerMarks(request, allowed))
  }

  private static func areAll(_ binding: [UInt8], among marks: [[UInt8]]) -> Bool {
    stride(from: 0, to: binding.count, by: 32).reduce(true) { matches, start in
      isOne(binding[start..<(start + 32)], of: marks) && matches
    }
  }

  private static func isOne(_ mark: ArraySlice<UInt8>, of marks: [[UInt8]]) -> Bool {
    marks.reduce(false) { constantTimeEqual($1, mark) || $0 }
  }

  /// Returns hashes (``credential(_:)``) of the tokens that the application has judged for an upload whose owner was found by the
  /// claims of a JWT: the tokens of the creation and of the delivery. Empty: the owner was not found by claims.
  static func tokens(_ binding: [UInt8], creation: Fields, delivered: Fields?) -> [[UInt8]] {
    guard let first = creation.only(.authorization) else { return [] }
    let identity = Credential.identity(first)
    guard identity != Array(first.trimmed), areAll(mark(identity, by: .authorization), among: split(binding)) else {
      return []
    }
    return [credential(creation), delivered.flatMap(credential)].compactMap(\.self)
  }

  private static func split(_ binding: [UInt8]) -> [[UInt8]] {
    stride(from: 0, to: binding.count - binding.count % 32, by: 32).map { Array(binding[$0..<($0 + 32)]) }
  }

  /// Whether the request shows one of these ``tokens(_:creation:delivered:)``, or there are no such tokens. Any other token may
  /// be forged, because pawl checks no signature.
  static func isKnown(_ request: IncomingRequest, among tokens: [[UInt8]]) -> Bool {
    guard !tokens.isEmpty else { return true }
    let shown = credential(request.head.fields) ?? []
    return tokens.reduce(false) { constantTimeEqual($1, shown[...]) || $0 }
  }

  /// Returns a hash of the `Authorization` value, in hexadecimal digits, so that it can be stored as a field value.
  static func credential(_ fields: Fields) -> [UInt8]? {
    fields.only(.authorization).map { SHA256.digest(Array($0.trimmed)).hexadecimal }
  }

  /// Whether finding the owner requires the response to `auth-request`.
  static func needsAuthRequest(_ route: RouteSettings) -> Bool {
    route.owner.contains { if case .authRequest = $0 { true } else { false } }
  }

  /// Whether the response to `auth-request` may be needed although `owner` does not name it. The request itself does not show the
  /// upload's owner, so a rule that was removed from `owner` may have found the owner in that response.
  static func mayNeedAuthRequest(_ binding: [UInt8], _ request: IncomingRequest) -> Bool {
    request.route.authRequest != nil && !needsAuthRequest(request.route) && !owns(binding, request)
  }

  private static func marks(_ request: IncomingRequest, _ allowed: Fields) -> [[UInt8]] {
    request.route.owner.compactMap { mark(by: $0, request, allowed) }
  }

  private static func mark(by rule: OwnerRule, _ request: IncomingRequest, _ allowed: Fields) -> [UInt8]? {
    let value: [UInt8]? =
      if case .authRequest(let field) = rule {
        allowed.combined(named: field.utf8).map(Array.init)
      } else {
        // Only the user's identity counts, because tokens are refreshed during long uploads. The origin judges the last token at
        // the delivery.
        rule == .authorization
          ? request.head.fields.only(.authorization).map(Credential.identity) : value(of: rule, in: request)
      }
    return value.map { mark($0, by: rule) }
  }

  // MARK: - Former rules

  /// The most cookies of a request, and the most fields of the response to `auth-request`, that are compared with an owner found
  /// by a rule that was removed later; the rest is ignored.
  static let formerLimit = 64

  /// Returns the marks of the request by every rule that `owner` could have had. A mark is a hash of a rule and of the value that
  /// the rule found.
  private static func formerMarks(_ request: IncomingRequest, _ allowed: Fields) -> [[UInt8]] {
    var marks = [OwnerRule.authorization, .clientCertificate].compactMap { mark(by: $0, request, allowed) }
    for (name, values) in cookies(of: request) {
      marks.append(SHA256.digest(Array("cookie:".utf8) + name + [0] + joined(values)))
    }
    for name in names(of: allowed) {
      guard let value = allowed.combined(named: name) else { continue }
      marks.append(SHA256.digest(Array("auth-request:".utf8) + name + [0] + Array(value)))
    }
    return marks
  }

  /// Returns the cookies with the first ``formerLimit`` names, each with all its values.
  private static func cookies(of request: IncomingRequest) -> [(name: [UInt8], values: [Bytes])] {
    var places: [[UInt8]: Int] = [:]
    var found: [(name: [UInt8], values: [Bytes])] = []
    eachCookie(in: request.cookies) { name, value in
      let name = Array(name)
      if let place = places[name] { return found[place].values.append(value) }
      guard found.count < formerLimit else { return }
      places[name] = found.count
      found.append((name, [value]))
    }
    return found
  }

  private static func names(of fields: Fields) -> Set<[UInt8]> {
    var names: Set<[UInt8]> = []
    for line in fields.lines where names.count < formerLimit {
      names.insert(fields.name(line).map(\.lowercasedASCII))
    }
    return names
  }

  /// Returns the hash of a rule and a value. The hash includes the rule's name, so that a change of `owner` in the configuration
  /// never gives an upload to another user.
  static func mark(_ value: [UInt8], by rule: OwnerRule) -> [UInt8] {
    SHA256.digest(Array(rule.description.utf8) + [0] + value)
  }

  /// Returns the bytes that a rule finds in the request, unchanged.
  static func value(of rule: OwnerRule, in request: IncomingRequest) -> [UInt8]? {
    switch rule {
    case .authorization: request.head.fields.only(.authorization).map { Array($0.trimmed) }
    case .cookie(let name): cookie(name, in: request.cookies)
    // Issuer and subject: a client with a renewed certificate is still the same owner.
    case .clientCertificate: request.facts.tls?.peerCertificate?.identity
    // `auth-request` is asked for uploads only, and its response is not part of the request.
    case .authRequest: nil
    }
  }

  /// Whether a request has the same owner as another request that had these cookies. Both requests need the same values of all
  /// cookies that `owner` names, and at least one such cookie. Also `false` if this request shows a credential that `owner` names
  /// and that is no cookie, because that credential of the other request is not known.
  static func isSame(_ request: IncomingRequest, asWithCookies other: Bytes) -> Bool {
    var isFound = false
    for rule in request.route.owner {
      guard case .cookie(let name) = rule else {
        if value(of: rule, in: request) != nil { return false }
        continue
      }
      let (own, theirs) = (cookie(name, in: request.cookies), cookie(name, in: [other]))
      guard own == theirs else { return false }
      if let own, !own.isEmpty { isFound = true }
    }
    return isFound
  }

  /// Returns the value of a cookie. If several cookies have this name, returns all their values, since it is not known which
  /// cookie the application uses.
  private static func cookie(_ name: String, in lines: [Bytes]) -> [UInt8]? {
    var values: [Bytes] = []
    eachCookie(in: lines) { if $0.elementsEqual(name.utf8) { values.append($1) } }
    return values.isEmpty ? nil : joined(values)
  }

  private static func joined(_ values: [Bytes]) -> [UInt8] { Array(values.joined(separator: [0x3b])) }

  private static func eachCookie(in lines: [Bytes], _ body: (_ name: Bytes, _ value: Bytes) -> Void) {
    for line in lines {
      for pair in line.split(separator: 0x3b) {
        let pair = pair.trimmed
        if let equals = pair.firstIndex(of: 0x3d) { body(pair[..<equals], pair[(equals + 1)...]) }
      }
    }
  }

  static func constantTimeEqual(_ a: [UInt8], _ b: ArraySlice<UInt8>) -> Bool {
    a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

}
