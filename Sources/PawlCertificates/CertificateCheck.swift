package import PawlConfig
import PawlHTTP
import PawlTLS

/// Checks the TLS files that a configuration names, for `pawl check`. Blocking; sends nothing over the network.
///
/// An expired certificate is a warning, not an error: pawl starts with it, and an operator can still load other changes of the
/// configuration.
package struct CertificateCheck {
  /// Certificates that expire within this time are reported; in seconds.
  package static let notice: Int64 = 30 * 86_400

  package private(set) var issues: [Issue] = []
  /// One line for each certificate that could be read.
  package private(set) var lines: [String] = []
  private let configuration: PawlConfig.Configuration
  private let now: Int64

  /// - Parameter now: seconds since 1970.
  package init(_ configuration: PawlConfig.Configuration, now: Int64) {
    (self.configuration, self.now) = (configuration, now)
    var sections: [String: [CertificateFacts]] = [:]
    for section in configuration.tls { sections[section.name] = check(section) }
    for listener in configuration.listeners where !listener.tls.isEmpty { checkNames(listener, sections) }
    checkHosts(sections)
    for upstream in configuration.upstreams { check(upstream) }
  }

  // MARK: Listeners

  /// Loads each pair of certificate and key by itself first, so that one broken file does not hide another.
  private mutating func check(_ section: TLSSettings) -> [CertificateFacts] {
    let label = "tls:\(section.name)"
    let files = Files(
      certificates: section.certificateFiles, keys: section.keyFiles, ocsp: section.ocsp, authority: section.clientCA)
    var whole = section.forServer
    let pairs = whole.pairs
    whole.pairs = pairs.filter { pair in
      load(TLSServerSettings(name: section.name, pairs: [pair]), label, files, pair) != nil
    }
    guard whole.pairs.count == pairs.count else { return [] }
    guard let context = load(whole, label, files, nil) else { return [] }
    for warning in context.warnings { add(.warning, warning, label, files, nil) }
    for facts in context.certificates { describe(facts, label, "certificate") }
    return context.certificates
  }

  private mutating func load(
    _ settings: TLSServerSettings, _ label: String, _ files: Files, _ pair: TLSKeyPair?
  ) -> TLSServerContext? {
    do throws(TLSProblem) {
      return try TLSServerContext([settings], offersHTTP2: true, tickets: TicketKeys())
    } catch {
      add(.error, error, label, files, pair)
      return nil
    }
  }

  private mutating func describe(_ facts: CertificateFacts, _ label: String, _ key: String) {
    let names = facts.names.isEmpty ? "no name" : facts.names.joined(separator: ", ")
    let stapled = facts.isStapled ? "; with an OCSP response" : ""
    // An origin commonly has the issuer of pawl's own certificate, so a missing issuer is reported for listeners only.
    let missing = key == "certificate" ? facts.missingIssuer : nil
    let issuer = missing.map { "; clients need the certificate of its issuer (\($0))" } ?? ""
    lines.append(
      "[\(label)] \(facts.file): \(facts.keyKind) for \(names), until \(Self.day(facts.notAfter))\(stapled)\(issuer)")
    if let message = validity(facts) {
      let place = configuration.place(of: key, facts.file, in: label)
      issues.append(Issue(.warning, at: place, section: label, key: key, "\(facts.file) \(message)"))
    }
  }

  private func validity(_ facts: CertificateFacts) -> String? {
    if now < facts.notBefore { return "is not valid before \(Self.day(facts.notBefore)): clients refuse it" }
    let left = facts.notAfter - now
    if left < 0 { return "has expired on \(Self.day(facts.notAfter)): clients refuse it" }
    guard left < Self.notice else { return nil }
    let days = left / 86_400
    return "expires on \(Self.day(facts.notAfter)), in \(days) day\(days == 1 ? "" : "s")"
  }

  /// Returns the date in the form `21 Nov 2026`.
  private static func day(_ seconds: Int64) -> String {
    String(decoding: HTTPDate.format(seconds).dropFirst(5).prefix(11), as: UTF8.self)
  }

  /// Warns of a name that two sections of a listener have, because clients get the certificate of the first section only.
  private mutating func checkNames(_ listener: ListenerSettings, _ sections: [String: [CertificateFacts]]) {
    var owners: [String: String] = [:]
    for section in listener.tls {
      let names = Set((sections[section] ?? []).flatMap(\.names))
      for name in names.sorted() {
        guard let owner = owners[name] else {
          owners[name] = section
          continue
        }
        let label = "listen:\(listener.name)"
        issues.append(
          Issue(
            .warning, at: configuration.place(of: "tls", section, in: label), section: label, key: "tls",
            "[tls:\(owner)] and [tls:\(section)] are both for \(name): the first is shown"))
      }
    }
  }

  /// Warns of a site without a certificate, if all listeners use TLS, because no client can reach such a site.
  private mutating func checkHosts(_ sections: [String: [CertificateFacts]]) {
    let listeners = configuration.listeners
    guard listeners.allSatisfy({ !$0.tls.isEmpty }) else { return }
    let used = listeners.flatMap(\.tls)
    // Certificates that could not be read have been reported already.
    guard used.allSatisfy({ sections[$0]?.isEmpty == false }) else { return }
    let names = Set(used.flatMap { sections[$0] ?? [] }.flatMap(\.names))
    for site in configuration.sites {
      for host in site.hosts where !Self.covers(names, host) {
        let label = "site:\(site.name)"
        issues.append(
          Issue(
            .warning, at: configuration.place(of: "host", host, in: label), section: label, key: "host",
            "no certificate is for \(host)"))
      }
    }
  }

  /// Whether a certificate's names include the host: exactly, or by a wildcard for the first label (RFC 6125 §6.4.3).
  private static func covers(_ names: Set<String>, _ host: String) -> Bool {
    var host = host[...]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    if host.hasSuffix(".") { host = host.dropLast() }
    if names.contains(String(host)) { return true }
    guard let dot = host.firstIndex(of: ".") else { return false }
    return names.contains("*" + host[dot...])
  }

  // MARK: Origins

  private mutating func check(_ upstream: UpstreamSection) {
    guard let settings = upstream.forTLS else { return }
    let label = "upstream:\(upstream.name)"
    let files = Files(
      certificates: upstream.tlsCertificate.map { [$0] } ?? [], keys: upstream.tlsKey.map { [$0] } ?? [],
      authority: upstream.tlsCA, prefix: "tls-", authorityKey: "tls-ca")
    // Load the CA and pawl's own certificate separately, so that one broken file does not hide the other.
    var authority = settings
    authority.pair = nil
    do throws(TLSProblem) {
      _ = try TLSClientContext(authority)
    } catch { add(.error, error, label, files, nil) }
    guard let pair = settings.pair else { return }
    let own = TLSServerSettings(name: upstream.name, pairs: [pair])
    guard let context = load(own, label, files, pair) else { return }
    // An origin that verifies pawl's certificate commonly has its issuer, so a chain without the issuer needs no warning.
    for facts in context.certificates { describe(facts, label, "tls-certificate") }
  }

  // MARK: Places

  /// The files of a section, and the configuration key of each.
  private struct Files {
    var certificates: [String]
    var keys: [String]
    var ocsp: [String] = []
    var authority: String?
    var prefix = ""
    var authorityKey = "client-ca"

    func key(of file: String) -> String? {
      if certificates.contains(file) { return "\(prefix)certificate" }
      if keys.contains(file) { return "\(prefix)key" }
      if ocsp.contains(file) { return "ocsp" }
      return authority == file ? authorityKey : nil
    }
  }

  /// Adds an issue at the line of the configuration that names the file.
  /// - Parameter pair: the pair that the problem is about, if the problem names no file.
  private mutating func add(
    _ severity: Issue.Severity, _ problem: TLSProblem, _ label: String, _ files: Files, _ pair: TLSKeyPair?
  ) {
    let file = problem.file ?? pair?.certificate
    let key = file.flatMap { files.key(of: $0) }
    let place = key.map { configuration.place(of: $0, file, in: label) } ?? configuration.place(of: "", in: label)
    let message = file.map { "\($0): \(problem.reason)" } ?? problem.reason
    let issue = Issue(severity, at: place, section: label, key: key, message)
    if !issues.contains(issue) { issues.append(issue) }
  }
}
