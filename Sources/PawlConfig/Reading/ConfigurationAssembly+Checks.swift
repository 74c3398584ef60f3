/// The checks that need several sections. They report names of sections that do not exist, duplicate definitions, and settings
/// that this version does not support.
extension ConfigurationAssembly {
  mutating func validate() {
    requireSomethingToServe()
    checkReferences()
    checkHosts()
    checkRoutePaths()
    checkAddresses()
    checkDirectories()
    checkCombinations()
    checkNodes()
    checkTLS()
    checkAdmin()
    // If a name is mistyped, the section with the right name is unused. The error about the name is enough, without a warning
    // about that section.
    guard !issues.contains(where: { $0.severity == .error }) else { return }
    warnOfUnused()
    warnOfDoubts()
  }

  mutating func report<Model>(
    _ section: ReadSection<Model>, _ key: String?, element: Int = 0, severity: Issue.Severity = .error,
    _ message: String, suggestion: String? = nil
  ) {
    let place = key.map { section.origin(of: $0, element: element) } ?? section.origin
    issues.append(
      Issue(severity, at: place, section: section.label.text, key: key, message, suggestion: suggestion))
  }

  private mutating func requireSomethingToServe() {
    if upstreams.isEmpty { issues.append(Issue(at: origin, "there is no [upstream:NAME]: nowhere to send requests")) }
    if sites.isEmpty { issues.append(Issue(at: origin, "there is no [site:NAME]: nothing to serve")) }
  }

  private mutating func checkReferences() {
    for site in sites { checkReferences(site, settings: site.model.settings, isInherited: { _ in false }) }
    for route in routes {
      // Inherited values were checked with the site.
      let site = sites.first { $0.model.name == route.model.site }
      checkReferences(route, settings: route.model.settings) { key in
        route.origins[key] == site?.origins[key]
      }
    }
  }

  private mutating func checkReferences<Model>(
    _ section: ReadSection<Model>, settings: SiteSettings, isInherited: (String) -> Bool
  ) {
    let references: [(key: String, kind: SectionKind, name: String?, names: [String])] = [
      ("upstream", .upstream, settings.upstream, upstreams.map(\.model.name)),
      ("cache", .cache, settings.cache, caches.map(\.model.name)),
      ("spool", .spool, settings.spool, spools.map(\.model.name) + ["default"]),
    ]
    for (key, kind, name, names) in references where !isInherited(key) && !section.refused.contains(key) {
      guard let name, !names.contains(name) else { continue }
      let words = key == "cache" ? names + ["default", "off"] : names
      report(section, key, "there is no [\(kind.rawValue):\(name)]", suggestion: nearestMatch(name, among: words))
    }
    if !isInherited("owner") { checkOwner(section, settings) }
    if !isInherited("cors") { checkCrossOrigin(section, settings) }
    checkUploads(section, settings, isInherited)
    checkCompression(section, settings, isInherited)
  }

  private mutating func checkCompression<Model>(
    _ section: ReadSection<Model>, _ settings: SiteSettings, _ isInherited: (String) -> Bool
  ) {
    let compression = settings.compression
    if compression.types.isEmpty { return }
    func isSaid(_ key: String) -> Bool {
      section.origins[key] != nil && !isInherited(key) && !section.refused.contains(key)
    }
    if settings.originEncoding == .pass, isSaid("compress") {
      report(section, "compress", severity: .warning, "has no effect with origin-encoding = pass")
    }
    if compression.least <= compression.greatest { return }
    let (least, greatest) = (Quantity.show(size: compression.least), Quantity.show(size: compression.greatest))
    if isSaid("compress-min") {
      report(
        section, "compress-min", severity: .warning,
        "\(least) is more than compress-max (\(greatest)): nothing is compressed")
    } else if isSaid("compress-max") {
      report(
        section, "compress-max", severity: .warning,
        "\(greatest) is less than compress-min (\(least)): nothing is compressed")
    }
  }

  /// Warns of settings that are allowed but probably not intended.
  private mutating func checkUploads<Model>(
    _ section: ReadSection<Model>, _ settings: SiteSettings, _ isInherited: (String) -> Bool
  ) {
    let upload = settings.upload
    func isSaid(_ key: String) -> Bool {
      section.origins[key] != nil && !isInherited(key) && !section.refused.contains(key)
    }
    if upload.tusForward == .raw {
      for key in ["tus-field", "tus-form"] where isSaid(key) {
        report(section, key, severity: .warning, "has no effect without tus-forward = multipart")
      }
    }
    let spool = spools.first { $0.model.name == settings.spool }?.model
    if let most = upload.maxUpload, let size = spool?.maxSize, most > size, isSaid("max-upload") {
      report(
        section, "max-upload", severity: .warning,
        "\(Quantity.show(size: most)) is more than the spool takes (\(Quantity.show(size: size)))")
    }
  }

  private mutating func checkOwner<Model>(_ section: ReadSection<Model>, _ settings: SiteSettings) {
    guard settings.upload.authRequest == nil else { return }
    for (index, rule) in settings.owner.enumerated() {
      if case .authRequest = rule {
        report(section, "owner", element: index, "\(rule) needs auth-request, which is not set")
      }
    }
  }

  private mutating func checkHosts() {
    var owners = [String: ValueOrigin]()
    var fallback: ReadSection<SiteSection>?
    for site in sites {
      if site.model.hosts.isEmpty, !site.refused.contains("host") {
        if let fallback {
          let place = "[\(fallback.label.text)] at \(fallback.origin)"
          report(site, nil, "a second site without host; \(place) is the default site already")
        }
        fallback = fallback ?? site
      }
      for (index, host) in site.model.hosts.enumerated() {
        let place = site.origin(of: "host", element: index)
        if let earlier = owners[host] {
          report(site, "host", element: index, "\"\(host)\" stands already at \(earlier)")
        }
        owners[host] = owners[host] ?? place
      }
    }
  }

  private mutating func checkRoutePaths() {
    var places = [String: ValueOrigin]()
    for route in routes where !route.refused.contains("path") {
      let name = "\(route.model.site) \(route.model.path)"
      if let earlier = places[name] {
        report(route, "path", "\"\(route.model.path)\" of this site stands already at \(earlier)")
      }
      places[name] = places[name] ?? route.origin(of: "path")
    }
  }

  private mutating func checkAddresses() {
    var places = [ListenAddress: ValueOrigin]()
    for listener in listeners where !listener.refused.contains("address") {
      for (index, address) in listener.model.addresses.enumerated() {
        check(address, listener, "address", index, &places)
      }
    }
    guard let admin, !admin.refused.contains("listen") else { return }
    for (index, address) in admin.model.listen.enumerated() { check(address, admin, "listen", index, &places) }
  }

  private mutating func check<Model>(
    _ address: ListenAddress, _ section: ReadSection<Model>, _ key: String, _ index: Int,
    _ places: inout [ListenAddress: ValueOrigin]
  ) {
    if case .internet(_, port: 0) = address { return }
    if let earlier = places[address] {
      report(section, key, element: index, "\"\(address)\" is listened on already at \(earlier)")
    } else if let (other, earlier) = places.first(where: { $0.key.overlaps(address) }) {
      report(
        section, key, element: index,
        "\"\(address)\" cannot be listened on beside \"\(other)\" (\(earlier)): 0.0.0.0 and [::] are all addresses"
      )
    }
    places[address] = places[address] ?? section.origin(of: key, element: index)
  }

  private mutating func checkDirectories() {
    var places = [String: (label: String, origin: ValueOrigin)]()
    func clash(_ path: String, _ label: SectionLabel, _ origin: ValueOrigin) -> String? {
      let path = FilePath.normalize(path)
      if let earlier = places[path] {
        return "\(path) is the directory of [\(earlier.label)] already (\(earlier.origin))"
      }
      places[path] = (label.text, origin)
      return nil
    }
    for cache in caches where !cache.refused.contains("path") {
      if let message = clash(cache.model.path, cache.label, cache.origin(of: "path")) { report(cache, "path", message) }
    }
    for spool in spools where !spool.refused.contains("path") {
      if let message = clash(spool.model.path, spool.label, spool.origin(of: "path")) { report(spool, "path", message) }
    }
  }

  private mutating func checkCombinations() {
    for cache in caches where cache.model.memoryObject > max(cache.model.memory, 32 << 10) {
      let sizes =
        "\(Quantity.show(size: cache.model.memoryObject)) is more than memory (\(Quantity.show(size: cache.model.memory)))"
      report(cache, "memory-object", severity: .warning, "\(sizes): no body of that size is kept in memory")
    }
    for spool in spools where spool.model.expireAfter > spool.model.maxAge && spool.origins["expire-after"] != nil {
      let times =
        "\(Quantity.show(time: spool.model.expireAfter)) is more than max-age (\(Quantity.show(time: spool.model.maxAge)))"
      report(spool, "expire-after", severity: .warning, "\(times): uploads are collected at max-age")
    }
    for upstream in upstreams where upstream.model.maxSharePerClient == 0 {
      report(upstream, "max-share-per-client", "0% would refuse every request")
    }
    for upstream in upstreams where upstream.model.maxSharePerPath == 0 {
      report(upstream, "max-share-per-path", "0% would refuse every request")
    }
    for spool in spools where spool.model.maxSharePerClient == 0 {
      report(spool, "max-share-per-client", "0% would refuse every upload")
    }
  }

  private static let checkKeys = ["check-interval", "check-timeout", "check-status", "check-fall", "check-rise"]

  private mutating func checkNodes() {
    for upstream in upstreams where !upstream.refused.contains("url") {
      let nodes = upstream.model.nodes
      if !nodes.isEmpty, nodes.allSatisfy(\.isBackup) {
        report(upstream, "url", "every url is a backup: at least one must not be")
      }
      if nodes.count == 1 {
        for key in ["balance", "max-rest", "rest-after-errors"] where upstream.origins[key] != nil {
          report(upstream, key, severity: .warning, "has no effect: there is one url")
        }
      }
      guard upstream.model.checkPath == nil, !upstream.refused.contains("check-path") else { continue }
      for key in Self.checkKeys where upstream.origins[key] != nil && !upstream.refused.contains(key) {
        report(upstream, key, severity: .warning, "has no effect without check-path")
      }
    }
  }

  private mutating func checkCrossOrigin<Model>(_ section: ReadSection<Model>, _ settings: SiteSettings) {
    guard case .origins(let origins) = settings.upload.cors, origins.contains("*") else { return }
    report(section, "cors", "* stands alone: it allows every origin already")
  }

  private mutating func warnOfUnused() {
    let settings = sites.map(\.model.settings) + routes.map(\.model.settings)
    let upstreamNames = Set(settings.map(\.upstream)), cacheNames = Set(settings.compactMap(\.cache))
    let spoolNames = Set(settings.filter(\.usesSpool).map(\.spool)),
      tlsNames = Set(listeners.flatMap(\.model.tls) + (admin?.model.tls.map { [$0] } ?? []))
    for section in upstreams where !upstreamNames.contains(section.model.name) { warnUnused(section, by: "site") }
    for section in caches where !cacheNames.contains(section.model.name) { warnUnused(section, by: "site") }
    for section in spools where !spoolNames.contains(section.model.name) { warnUnused(section, by: "site") }
    for section in tls where !tlsNames.contains(section.model.name) { warnUnused(section, by: "listener") }
  }

  private mutating func warnUnused<Model>(_ section: ReadSection<Model>, by user: String) {
    report(section, nil, severity: .warning, "no \(user) uses this section")
  }
}
