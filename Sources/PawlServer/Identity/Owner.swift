import PawlBase
import PawlConfig
import PawlHTTP
import PawlTLS

/// Who an upload belongs to (`owner` in the configuration): a hash of each thing the creator sent that the route binds by. Only
/// what the creator sent binds; the hash is stored, never the credential. What is kept of a response has ``PrivateOwner``.
enum Owner {
  /// Who an upload belongs to: for each rule that found something 32 bytes, whatever its URL. Empty: nobody.
  /// - Parameter allowed: the fields of the answer to `auth-request`.
  static func ofUpload(_ request: IncomingRequest, allowed: Fields = Fields()) -> [UInt8] {
    marks(request, allowed).flatMap(\.self)
  }

  /// Whether this request comes from whom ``ofUpload(_:allowed:)`` named, also by rules that `owner` has lost since. Takes as long
  /// whatever differs.
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

  /// Where an upload is bound by what a token says of itself, the tokens that were more than a claim, by ``credential(_:)``: that
  /// of the creation, and the one that the application was given with the bytes. Empty: what binds it is looked at whole.
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

  /// Whether the request shows one of these ``tokens(_:creation:delivered:)``. Another one may have been made up.
  static func isKnown(_ request: IncomingRequest, among tokens: [[UInt8]]) -> Bool {
    guard !tokens.isEmpty else { return true }
    let shown = credential(request.head.fields) ?? []
    return tokens.reduce(false) { constantTimeEqual($1, shown[...]) || $0 }
  }

  /// Names the bytes of `Authorization`; in hexadecimal digits, for a field.
  static func credential(_ fields: Fields) -> [UInt8]? {
    fields.only(.authorization).map { SHA256.digest(Array($0.trimmed)).hexadecimal }
  }

  /// Whether that takes the answer to `auth-request`.
  static func needsAuthRequest(_ route: RouteSettings) -> Bool {
    route.owner.contains { if case .authRequest = $0 { true } else { false } }
  }

  /// Whether it may take that answer nevertheless: the request shows something else than what binds the upload, which a rule
  /// that `owner` has lost since may have found there.
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
        // Tokens are refreshed during long uploads; the origin judges the last of them when it gets the bytes.
        rule == .authorization
          ? request.head.fields.only(.authorization).map(Credential.identity) : value(of: rule, in: request)
      }
    return value.map { mark($0, by: rule) }
  }

  // MARK: - Rules of before

  /// So many different cookies of a request, and so many different fields of the application's answer, are held against what binds
  /// an upload by a rule that `owner` has lost since; those behind them count for nothing there.
  static let formerLimit = 64

  /// All that the request shows, by whatever rule could have bound it: a mark stands for its rule and for what that found.
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

  /// The first ``formerLimit`` names, each with all its values.
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

  /// The rule stands in it by its name: a list that was changed since binds to nobody else.
  static func mark(_ value: [UInt8], by rule: OwnerRule) -> [UInt8] {
    SHA256.digest(Array(rule.description.utf8) + [0] + value)
  }

  /// The bytes that the rule finds in the request, as they came.
  static func value(of rule: OwnerRule, in request: IncomingRequest) -> [UInt8]? {
    switch rule {
    case .authorization: request.head.fields.only(.authorization).map { Array($0.trimmed) }
    case .cookie(let name): cookie(name, in: request.cookies)
    // Issuer and subject: who has renewed the certificate is still the same.
    case .clientCertificate: request.facts.tls?.peerCertificate?.identity
    // An auth-request's answer comes with uploads only; without it nothing is bound.
    case .authRequest: nil
    }
  }

  /// Whether a request has the same owner as one that had these cookies, as far as cookies tell it: `owner` names one that both have,
  /// and none in which they differ. Where it names a credential, and this one shows it, nobody knows of the other.
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

  /// Of several with this name all values: which of them the application takes, nobody knows.
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
