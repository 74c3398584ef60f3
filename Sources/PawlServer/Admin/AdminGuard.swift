import PawlConfig
import PawlHTTP
import PawlTLS

/// Decides who may use the admin interface. Pure.
///
/// A unix socket's file permissions say who may connect. Over TCP each request needs the token or a verified client certificate.
/// Requests that a page in a browser may have made are refused everywhere, since a browser on the same machine can reach what its
/// user cannot: a `Host` that pawl does not have (DNS rebinding), an `Origin` or `Sec-Fetch-Site` of another site.
struct AdminGuard: Sendable {
  enum Verdict {
    /// - Parameter isOperator: whether the client has proved that it may see everything.
    case passes(isOperator: Bool)
    /// - Parameter why: the reason for the log.
    case refused(AdminReply, why: String)
  }

  private let tokenDigest: [UInt8]?
  /// The hosts that a request may name, in lower case and without a port.
  private let hosts: Set<[UInt8]>
  /// Whether an address of pawl stands for any address of the machine.
  private let takesAnyAddress: Bool

  init(_ settings: AdminSettings) {
    tokenDigest = settings.token.map { SHA256.digest(Array($0.text.utf8)) }
    var hosts: Set<[UInt8]> = Set(["localhost", "127.0.0.1", "[::1]"].map { Array($0.utf8) })
    var takesAny = false
    for case .internet(let host, _) in settings.listen {
      hosts.insert(Array((host.contains(":") ? "[\(host)]" : host).lowercased().utf8))
      if NetworkAddress(host)?.bytes.allSatisfy({ $0 == 0 }) == true { takesAny = true }
    }
    for host in settings.allowedHosts { hosts.insert(Array(host.utf8)) }
    (self.hosts, takesAnyAddress) = (hosts, takesAny)
  }

  func verdict(on request: IncomingRequest, isForAnyone: Bool) -> Verdict {
    let isOperator = isTrusted(request)
    // A probe of a load balancer names whatever it likes, and learns only whether pawl is well.
    if isForAnyone, !isOperator { return .passes(isOperator: false) }
    if let refusal = browserRefusal(request) { return refusal }
    guard isOperator else {
      let reply = AdminReply.problem(
        401, "This address needs Authorization: Bearer with the token of [admin], or a client certificate.")
      return .refused(reply.with("WWW-Authenticate", "Bearer realm=\"pawl\""), why: "no valid token")
    }
    return .passes(isOperator: true)
  }

  // MARK: - Who asks

  private func isTrusted(_ request: IncomingRequest) -> Bool {
    if request.facts.client?.isUnix == true || request.facts.tls?.peerCertificate != nil { return true }
    guard let tokenDigest, let token = Self.bearer(request.head.fields) else { return false }
    return Self.isSame(SHA256.digest(Array(token)), tokenDigest)
  }

  /// Returns the token of `Authorization` (RFC 6750 §2.1). A token in a URL is never read: URLs are logged.
  private static func bearer(_ fields: Fields) -> Bytes? {
    guard let value = fields.only(.authorization), let space = value.firstIndex(of: 0x20),
      value[..<space].equalsIgnoringCase("Bearer")
    else { return nil }
    return value[space...].trimmed
  }

  /// Compares two digests in a time that does not depend on where they differ.
  private static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  // MARK: - Browsers

  private func browserRefusal(_ request: IncomingRequest) -> Verdict? {
    let (head, fields) = (request.head, request.head.fields)
    guard isOwn(Authority.hostOnly(head.authority)) else {
      let host = head.authority.text
      return .refused(
        .problem(421, "\(host) is no host of this address; allow-host in [admin] adds one."), why: "host \(host)")
    }
    for origin in fields.all(.origin) {
      guard origin.elementsEqual("\(request.facts.scheme)://".utf8 + head.authority) else {
        return .refused(.problem(403, "Pages of other sites may not ask this."), why: "origin \(origin.text)")
      }
    }
    for site in fields.all(named: "Sec-Fetch-Site".utf8) {
      guard site.equals("same-origin") || site.equals("none") else {
        return .refused(.problem(403, "Pages of other sites may not ask this."), why: "sec-fetch-site \(site.text)")
      }
    }
    return nil
  }

  /// Whether the host of a request is one of this address. Only HTTP/1.0 has none, which no browser speaks.
  private func isOwn(_ host: Bytes) -> Bool {
    if host.isEmpty || hosts.contains(Array(host)) { return true }
    guard takesAnyAddress else { return false }
    let bare = host.first == 0x5b ? host.dropFirst().dropLast() : host
    return NetworkAddress(bare.text) != nil
  }
}
