/// Puts a configuration together from its sections. The sections that others refer to are read first, then the sections that
/// refer to them.
struct ConfigurationAssembly {
  private let surroundings: Surroundings
  /// The place of a mistake that belongs to no section: the configuration file, or the command line.
  let origin: ValueOrigin
  var issues: [Issue]

  var process: ReadSection<ProcessSettings>
  var admin: ReadSection<AdminSettings>?
  var listeners = [ReadSection<ListenerSettings>]()
  var tls = [ReadSection<TLSSettings>]()
  var caches = [ReadSection<CacheSettings>]()
  var spools = [ReadSection<SpoolSettings>]()
  var upstreams = [ReadSection<UpstreamSection>]()
  var sites = [ReadSection<SiteSection>]()
  var routes = [ReadSection<RouteSection>]()

  init(_ surroundings: Surroundings, origin: ValueOrigin, issues: [Issue]) {
    (self.surroundings, self.origin, self.issues) = (surroundings, origin, issues)
    process = ReadSection(
      label: SectionLabel(.pawl), origin: .builtIn,
      model: ProcessSettings(stateDirectory: surroundings.defaultStateDirectory))
  }

  /// - Parameter files: the files in the order in which they were read. Issues are reported in that order.
  mutating func assemble(_ sections: [Section], files: [String]) throws(InvalidConfiguration) -> Configuration {
    let byKind = Dictionary(grouping: sections, by: \.label.kind)
    let secrets = sections.flatMap { $0.entries.flatMap(\.fromFiles) }
    for section in byKind[.pawl] ?? [] {
      process = readSection(section, over: process.model, keys: ProcessSettings.keys, issues: &issues)
    }
    readNamed(byKind)
    addWhatExistsByItself()
    validate()
    let ordered = issues.enumerated().sorted { a, b in
      let (left, right) = (place(of: a.element, files), place(of: b.element, files))
      return left == right ? a.offset < b.offset : left < right
    }.map { hiding(secrets, in: $0.element) }
    if ordered.contains(where: { $0.severity == .error }) { throw InvalidConfiguration(issues: ordered) }
    return configuration(warnings: ordered)
  }

  private func hiding(_ secrets: [String], in issue: Issue) -> Issue {
    var issue = issue
    issue.message = Redaction.without(secrets, in: issue.message)
    issue.suggestion = issue.suggestion.map { Redaction.without(secrets, in: $0) }
    return issue
  }

  /// Reads `[pawl]` and `[admin]` only.
  mutating func adminSettings(_ sections: [Section]) -> AdminSettings {
    let byKind = Dictionary(grouping: sections, by: \.label.kind)
    for section in byKind[.pawl] ?? [] {
      process = readSection(section, over: process.model, keys: ProcessSettings.keys, issues: &issues)
    }
    readAdmin(byKind[.admin] ?? [])
    return admin?.model ?? AdminSettings(stateDirectory: process.model.stateDirectory)
  }

  private mutating func readAdmin(_ sections: [Section]) {
    for section in sections {
      let start = AdminSettings(stateDirectory: process.model.stateDirectory)
      admin = readSection(section, over: start, keys: AdminSettings.keys, issues: &issues)
    }
  }

  private func place(of issue: Issue, _ files: [String]) -> (file: Int, line: Int) {
    switch issue.origin {
    case .builtIn: (files.count + 1, 0)
    case .commandLine: (-1, 0)
    case .file(let path, let line): (files.firstIndex(of: path) ?? files.count, line == 0 ? .max : line)
    }
  }

  private mutating func readNamed(_ byKind: [SectionKind: [Section]]) {
    let state = process.model.stateDirectory
    readAdmin(byKind[.admin] ?? [])
    for section in byKind[.listen] ?? [] {
      let start = ListenerSettings(name: section.label.name)
      listeners.append(readSection(section, over: start, keys: ListenerSettings.keys, issues: &issues))
    }
    for section in byKind[.tls] ?? [] {
      tls.append(
        readSection(section, over: TLSSettings(name: section.label.name), keys: TLSSettings.keys, issues: &issues))
    }
    for section in byKind[.cache] ?? [] {
      let start = CacheSettings(name: section.label.name, path: FilePath.resolve("cache", from: state))
      caches.append(readSection(section, over: start, keys: CacheSettings.keys, issues: &issues))
    }
    for section in byKind[.spool] ?? [] {
      let start = SpoolSettings(name: section.label.name, path: FilePath.resolve("spool", from: state))
      spools.append(readSection(section, over: start, keys: SpoolSettings.keys, issues: &issues))
    }
    for section in byKind[.upstream] ?? [] {
      let start = UpstreamSection(name: section.label.name)
      upstreams.append(readSection(section, over: start, keys: UpstreamSection.keys, issues: &issues))
    }
    for section in byKind[.site] ?? [] {
      let start = SiteSection(name: section.label.name)
      sites.append(readSection(section, over: start, keys: SiteSection.keys, issues: &issues))
    }
    for section in byKind[.route] ?? [] { readRoute(section) }
  }

  /// Reads a route. The route starts with the settings of its site.
  private mutating func readRoute(_ section: Section) {
    let parts = section.label.name.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return }
    let site = sites.first { $0.model.name == parts[0] }
    if site == nil {
      let names = sites.map(\.model.name)
      issues.append(
        Issue(
          at: section.origin, section: section.label.text, "there is no [site:\(parts[0])]",
          suggestion: nearestMatch(parts[0], among: names).map { "route:\($0)/\(parts[1])" }))
    }
    var inherited = site?.origins ?? [:]
    inherited["host"] = nil
    let start = RouteSection(site: parts[0], name: parts[1], settings: site?.model.settings ?? SiteSettings())
    var route = readSection(
      section, over: start, keys: RouteSection.keys, inherited: inherited, satisfied: ["upstream"], issues: &issues)
    route.fromFiles.formUnion(site?.fromFiles ?? [])
    routes.append(route)
  }

  private mutating func addWhatExistsByItself() {
    let state = process.model.stateDirectory
    if listeners.isEmpty {
      let label = SectionLabel(.listen, "default")
      listeners = [ReadSection(label: label, origin: .builtIn, model: ListenerSettings(name: "default"))]
    }
    let names = Set(sites.map(\.model.name))
    let settings =
      sites.filter { !$0.refused.contains("cache") }.map(\.model.settings)
      + routes.filter { names.contains($0.model.site) && !$0.refused.contains("cache") }.map(\.model.settings)
    if settings.contains(where: { $0.cache == "default" }), !caches.contains(where: { $0.model.name == "default" }) {
      let model = CacheSettings(name: "default", path: FilePath.resolve("cache", from: state))
      caches.insert(ReadSection(label: SectionLabel(.cache, "default"), origin: .builtIn, model: model), at: 0)
    }
    if settings.contains(where: { $0.usesSpool && $0.spool == "default" }),
      !spools.contains(where: { $0.model.name == "default" })
    {
      let model = SpoolSettings(name: "default", path: FilePath.resolve("spool", from: state))
      spools.insert(ReadSection(label: SectionLabel(.spool, "default"), origin: .builtIn, model: model), at: 0)
    }
  }

  private func configuration(warnings: [Issue]) -> Configuration {
    let withRoutes = sites.map { site in
      var model = site.model
      model.routes = routes.map(\.model).filter { $0.site == model.name }.sorted { $0.path.precedes($1.path) }
      return model
    }
    return Configuration(
      process: process.model, listeners: listeners.map(\.model), tls: tls.map(\.model), caches: caches.map(\.model),
      spools: spools.map(\.model), upstreams: upstreams.map(\.model), sites: withRoutes,
      admin: admin?.model ?? AdminSettings(stateDirectory: process.model.stateDirectory), effective: effective(),
      warnings: warnings)
  }

  private func effective() -> [EffectiveSection] {
    var sections = [process.effective(ProcessSettings.keys)]
    sections += listeners.map { $0.effective(ListenerSettings.keys) }
    sections += tls.map { $0.effective(TLSSettings.keys) }
    sections += caches.map { $0.effective(CacheSettings.keys) }
    sections += spools.map { $0.effective(SpoolSettings.keys) }
    sections += upstreams.map { $0.effective(UpstreamSection.keys) }
    for site in sites {
      sections.append(site.effective(SiteSection.keys))
      let own = routes.filter { $0.model.site == site.model.name }
      sections += own.sorted { $0.model.path.precedes($1.model.path) }.map { $0.effective(RouteSection.keys) }
    }
    let none = ReadSection(
      label: SectionLabel(.admin), origin: .builtIn,
      model: AdminSettings(stateDirectory: process.model.stateDirectory))
    sections.append((admin ?? none).effective(AdminSettings.keys))
    return sections
  }
}
