import COpenSSL

/// The server side of TLS for one listener. It chooses the certificates of its sections by SNI: the exact name, then a wildcard,
/// then the first section. Immutable: a reload makes a new one, and running connections keep theirs. Safe on any thread.
package final class TLSServerContext: Sendable {
  /// The certificates, in the order of the sections.
  package let certificates: [CertificateFacts]
  /// Problems that do not prevent loading.
  package let warnings: [TLSProblem]
  /// Whether a section requests client certificates. If so, a request for a host of another section gets 421.
  package let asksForCertificates: Bool
  let tickets: TicketKeys
  let offersHTTP2: Bool
  private let first: ServerIdentity
  private let names: NameTable<ServerIdentity>

  /// Reads all files. Blocking: never on a loop.
  /// - Parameters:
  ///   - sections: at least one; the first is the default.
  ///   - offersHTTP2: whether ALPN may choose `h2`.
  ///   - now: seconds since 1970, to find OCSP responses that have expired; `nil`: the system's clock.
  package init(
    _ sections: [TLSServerSettings], offersHTTP2: Bool, tickets: TicketKeys, now: Int64? = nil
  ) throws(TLSProblem) {
    _ = KernelTLS.isAvailable  // Found out here, where blocking is allowed.
    var loading = ServerLoading(now: now ?? wallSeconds())
    for section in sections { try loading.load(section) }
    guard let first = loading.identities.first else { throw TLSProblem("no certificate is configured") }
    (self.first, self.tickets, self.offersHTTP2) = (first, tickets, offersHTTP2)
    (certificates, warnings) = (loading.facts, loading.warnings)
    asksForCertificates = loading.identities.contains { $0.verifyMode != SSL_VERIFY_NONE }
    var names = NameTable<ServerIdentity>()
    for identity in loading.identities { for name in identity.names { names.add(name, identity) } }
    self.names = names
    for identity in loading.identities { ServerCallbacks.install(in: identity.context) }
  }

  /// Makes an engine for one accepted socket.
  package func makeEngine() -> TLSEngine {
    guard let ssl = SSL_new(first.context) else { preconditionFailure("out of memory") }
    let engine = TLSEngine(ssl, keeper: self, isClient: false)
    engine.identity = first
    return engine
  }

  /// The index of the section whose certificates are used for this host (lower case, no port).
  package func section(for host: some Collection<UInt8>) -> Int { identity(for: host).section }

  func identity(for host: some Collection<UInt8>) -> ServerIdentity { names.find(host) ?? first }
}

/// Maps names of certificates to values. An exact name comes before a wildcard, which stands for one label (RFC 6125 §6.4.3). If
/// a name is added twice, the first value stays.
struct NameTable<Value: Sendable>: Sendable {
  private var exact: [String: Value] = [:]
  /// The values of wildcards by the part after the `*`, with its dot.
  private var wildcards: [String: Value] = [:]

  mutating func add(_ name: String, _ value: Value) {
    let name = name.hasSuffix(".") ? String(name.dropLast()) : name
    guard name.hasPrefix("*") else {
      if exact[name] == nil { exact[name] = value }
      return
    }
    let rest = String(name.dropFirst())
    guard rest.hasPrefix("."), rest.count > 1, !rest.contains("*"), wildcards[rest] == nil else { return }
    wildcards[rest] = value
  }

  /// - Parameter host: lower case, with or without the root's dot.
  func find(_ host: some Collection<UInt8>) -> Value? {
    var name = String(decoding: host, as: UTF8.self)
    if name.hasSuffix(".") { name.removeLast() }
    if let value = exact[name] { return value }
    guard let dot = name.firstIndex(of: "."), dot > name.startIndex else { return nil }
    return wildcards[String(name[dot...])]
  }
}

/// Loads the sections of a listener.
struct ServerLoading {
  let now: Int64
  var identities: [ServerIdentity] = []
  var facts: [CertificateFacts] = []
  var warnings: [TLSProblem] = []
  private var sectionCount = 0

  init(now: Int64) { self.now = now }

  mutating func load(_ settings: TLSServerSettings) throws(TLSProblem) {
    let section = sectionCount
    sectionCount += 1
    guard !settings.pairs.isEmpty else { throw TLSProblem("[tls:\(settings.name)] has no certificate") }
    if settings.clientCertificates != .off, settings.clientCA == nil {
      throw TLSProblem("[tls:\(settings.name)] asks for client certificates without client-ca")
    }
    var authority: ClientAuthority?
    if let path = settings.clientCA { authority = try ClientAuthority(path) }
    var staples = try settings.ocspResponses.map { path throws(TLSProblem) in (file: try PEMFile(path), isUsed: false) }
    var own: [ServerIdentity] = []
    for files in settings.pairs {
      let pair = try CertificatePair(files)
      warnings += pair.warnings
      let identity: ServerIdentity
      if let known = own.first(where: { Self.fits(pair, $0) }) {
        identity = known
      } else {
        if let hidden = hiddenBy(own, pair) { warnings.append(hidden) }
        identity = try ServerIdentity(section, settings, authority)
        own.append(identity)
      }
      try identity.add(pair)
      let isStapled = try staple(pair, to: identity, &staples)
      facts.append(CertificateFacts(pair, section: settings.name, isStapled: isStapled))
    }
    for staple in staples where !staple.isUsed {
      warnings.append(
        TLSProblem("belongs to none of the certificates of [tls:\(settings.name)]", file: staple.file.path))
    }
    identities += own
  }

  /// A warning for a pair that is never used, because earlier pairs have all its names and the same kind of key.
  private func hiddenBy(_ own: [ServerIdentity], _ pair: CertificatePair) -> TLSProblem? {
    let names = pair.leaf.dnsNames
    let isHidden = names.allSatisfy { name in own.contains { $0.names.contains(name) } }
    guard !names.isEmpty, isHidden else { return nil }
    return TLSProblem(
      "is never shown: a certificate before it in the section is for the same names and of the same kind of key",
      file: pair.files.certificate)
  }

  /// Whether a pair has another kind of key for the names of an identity.
  private static func fits(_ pair: CertificatePair, _ identity: ServerIdentity) -> Bool {
    let names = pair.leaf.dnsNames
    return !identity.keyTypes.contains(pair.leaf.keyType)
      && (names.contains { identity.names.contains($0) } || names.isEmpty && identity.names.isEmpty)
  }

  private mutating func staple(
    _ pair: CertificatePair, to identity: ServerIdentity, _ staples: inout [(file: PEMFile, isUsed: Bool)]
  ) throws(TLSProblem) -> Bool {
    let issuer = pair.chain.dropFirst().first ?? (pair.leaf.isSelfIssued ? pair.leaf : nil)
    var isStapled = false
    for index in staples.indices {
      switch try OCSPStaple.match(staples[index].file, pair.leaf, issuer: issuer, now: now) {
      case .another: break
      case .unfit(let why):
        staples[index].isUsed = true
        warnings.append(TLSProblem(why, file: staples[index].file.path))
      case .fits(let staple):
        staples[index].isUsed = true
        isStapled = true
        identity.staple(staple, to: pair.leaf)
      }
    }
    return isStapled
  }
}

extension CertificateFacts {
  init(_ pair: CertificatePair, section: String, isStapled: Bool) {
    self.init(
      section: section, file: pair.files.certificate, names: pair.leaf.allNames, keyKind: pair.leaf.keyKind,
      notBefore: pair.leaf.notBefore, notAfter: pair.leaf.notAfter, isStapled: isStapled,
      missingIssuer: pair.missingIssuer)
  }
}
