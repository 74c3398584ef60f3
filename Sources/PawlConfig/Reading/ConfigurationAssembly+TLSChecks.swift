/// The checks of the settings for TLS, HTTP/2 and the PROXY protocol that compare several configuration keys. Certificate and key
/// files are not opened here; their contents are checked where the files are read.
extension ConfigurationAssembly {
  mutating func checkTLS() {
    for listener in listeners {
      checkNames(listener)
      checkHTTP2(listener)
      checkProxyProtocol(listener)
    }
    for section in tls {
      checkPairs(section)
      checkClients(section)
    }
    for upstream in upstreams { checkOrigin(upstream) }
    for site in sites { checkSite(site, settings: site.model.settings, inherited: [:]) }
    for route in routes {
      let site = sites.first { $0.model.name == route.model.site }
      checkSite(route, settings: route.model.settings, inherited: site?.origins ?? [:])
    }
  }

  // MARK: Listeners

  private mutating func checkNames(_ listener: ReadSection<ListenerSettings>) {
    let names = tls.map(\.model.name)
    var places = [String: ValueOrigin]()
    for (index, name) in listener.model.tls.enumerated() {
      if !names.contains(name) {
        let near = nearestMatch(name, among: names + ["none"])
        report(listener, "tls", element: index, "there is no [tls:\(name)]", suggestion: near)
      } else if let earlier = places[name] {
        report(listener, "tls", element: index, "\"\(name)\" stands already at \(earlier)")
      }
      places[name] = places[name] ?? listener.origin(of: "tls", element: index)
    }
  }

  private mutating func checkHTTP2(_ listener: ReadSection<ListenerSettings>) {
    guard !listener.model.http2 else { return }
    for key in ["max-streams", "max-window"] where isSaid(key, listener) {
      report(listener, key, severity: .warning, "has no effect with http2 = off")
    }
  }

  private mutating func checkProxyProtocol(_ listener: ReadSection<ListenerSettings>) {
    guard listener.model.proxyProtocol, process.model.trustedProxies.isEmpty else { return }
    guard !process.refused.contains("trusted-proxies") else { return }
    report(
      listener, "proxy-protocol",
      "needs [pawl] trusted-proxies: the addresses of the load balancers that send the header; all others are refused")
  }

  // MARK: Certificates

  private mutating func checkPairs(_ section: ReadSection<TLSSettings>) {
    let (certificates, keys) = (section.model.certificateFiles, section.model.keyFiles)
    let lists = [("certificate", certificates), ("key", keys)]
    guard !lists.contains(where: { section.refused.contains($0.0) }) else { return }
    for (name, files) in lists where files.isEmpty { report(section, name, "required, but missing") }
    if !certificates.isEmpty, !keys.isEmpty, certificates.count != keys.count {
      let (longer, first) = certificates.count > keys.count ? ("certificate", keys.count) : ("key", certificates.count)
      report(
        section, longer, element: first,
        "expected a key for each certificate, in the same order; found certificate \(certificates.count) times and key \(keys.count) times"
      )
    }
    for (name, files) in lists { checkRepeated(section, name, files) }
  }

  private mutating func checkRepeated(_ section: ReadSection<TLSSettings>, _ key: String, _ files: [String]) {
    // One file with a private key may be used for several certificates.
    guard key == "certificate" else { return }
    for (index, file) in files.enumerated() {
      guard let earlier = files[..<index].firstIndex(of: file) else { continue }
      let place = section.origin(of: key, element: earlier)
      report(section, key, element: index, "\(file) stands already at \(place)")
    }
  }

  private mutating func checkClients(_ section: ReadSection<TLSSettings>) {
    guard !section.refused.contains("client-ca"), !section.refused.contains("client-certificate") else { return }
    switch (section.model.clientCertificate, section.model.clientCA) {
    case (.off, .some):
      report(
        section, "client-ca", severity: .warning, "has no effect without client-certificate = optional or required")
    case (.optional, nil), (.required, nil):
      report(section, "client-certificate", "needs client-ca, which is not set")
    case (.off, nil), (.optional, .some), (.required, .some): break
    }
  }

  // MARK: Origins

  private static let originKeys = [
    "tls-verify", "tls-ca", "tls-certificate", "tls-key", "tls-server-name", "tls-min-version",
  ]

  private mutating func checkOrigin(_ upstream: ReadSection<UpstreamSection>) {
    let model = upstream.model
    switch (model.tlsCertificate, model.tlsKey) {
    case (.some, nil) where !upstream.refused.contains("tls-key"):
      report(upstream, "tls-certificate", "needs tls-key, which is not set")
    case (nil, .some) where !upstream.refused.contains("tls-certificate"):
      report(upstream, "tls-key", "needs tls-certificate, which is not set")
    default: break
    }
    guard !upstream.refused.contains("url") else { return }
    if !model.urls.contains(where: \.isTLS) {
      for key in Self.originKeys where isSaid(key, upstream) {
        report(upstream, key, severity: .warning, "has no effect: no url begins with https://")
      }
    } else if !model.tlsVerify, model.tlsCA != nil {
      report(upstream, "tls-ca", severity: .warning, "has no effect with tls-verify = off")
    }
  }

  // MARK: Sites

  /// - Parameter inherited: the places (file and line) of the values that a route inherits from its site. Inherited values are
  ///   not checked here, because they are checked with the site.
  private mutating func checkSite<Model>(
    _ section: ReadSection<Model>, settings: SiteSettings, inherited: [String: [ValueOrigin]]
  ) {
    func isOwn(_ key: String) -> Bool { isSaid(key, section) && section.origins[key] != inherited[key] }
    if let hsts = settings.hsts, isOwn("hsts") {
      if !listeners.contains(where: { !$0.model.tls.isEmpty }), process.model.trustedProxies.isEmpty {
        report(
          section, "hsts", severity: .warning,
          "has no effect: no listener has tls, and no trusted-proxies could say that the client came over TLS")
      } else if hsts.preload, !hsts.includesSubdomains || hsts.maxAge < .seconds(365 * 86_400) {
        report(
          section, "hsts", severity: .warning, "browsers' preload lists ask for at least 365d and include-subdomains")
      }
    }
    if settings.clientCertificateField, isOwn("client-certificate-field"), !asksClients {
      report(
        section, "client-certificate-field", severity: .warning,
        "has no effect: no listener uses a [tls:NAME] with client-certificate = optional or required")
    }
  }

  private var asksClients: Bool {
    let used = Set(listeners.flatMap(\.model.tls))
    return tls.contains { $0.model.clientCertificate != .off && used.contains($0.model.name) }
  }

  private func isSaid<Model>(_ key: String, _ section: ReadSection<Model>) -> Bool {
    section.origins[key] != nil && !section.refused.contains(key)
  }
}
