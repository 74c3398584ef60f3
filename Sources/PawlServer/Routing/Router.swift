import PawlCacheStore
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Which route a request takes: the site that names its host, else the default site; then the longest path.
final class Router: Sendable {
  final class Site: Sendable {
    let hosts: [[UInt8]]
    let settings: RouteSettings
    /// The longest first.
    let routes: [(path: PathPattern, settings: RouteSettings)]

    init(hosts: [[UInt8]], settings: RouteSettings, routes: [(path: PathPattern, settings: RouteSettings)]) {
      (self.hosts, self.settings, self.routes) = (hosts, settings, routes)
    }

    var all: [RouteSettings] { [settings] + routes.map(\.settings) }
  }

  private let sites: [Site]
  private let defaultSite: Site?
  /// Where upload URLs live, over all sites, and where they did.
  let urls: UploadURLs
  /// Of all spools that are open.
  let held: UploadLookup

  /// - Parameters:
  ///   - spools: all that are open, those that the sites use first.
  ///   - old: what these sites replace: its uploads go on.
  init(sites: [Site], spools: [OpenSpool] = [], old: Router? = nil) {
    self.sites = sites
    defaultSite = sites.first { $0.hosts.isEmpty }
    let uploads = spools.flatMap(\.store.uploads)
    // What is being made at this moment has the URLs of the settings before.
    let former = (old?.urls.current ?? []) + Set(uploads.map { $0.origin.prefix ?? UploadURLs.usual })
    urls = UploadURLs(
      current: sites.flatMap(\.all).compactMap { $0.uploads?.prefix }, former: former,
      remembered: (old?.urls.former ?? []) + (old?.urls.remembered ?? []))
    held = UploadLookup(spools, retired: Self.retired(from: old, by: sites, uploads))
  }

  /// Sites that are no more, the latest first: those of a moment ago whose hosts nobody answers for now, and of those
  /// before them the ones that uploads need.
  private static func retired(from old: Router?, by sites: [Site], _ uploads: [SpooledUpload]) -> [Site] {
    guard let old, !sites.contains(where: { $0.hosts.isEmpty }) else { return [] }
    let hosts = Set(sites.flatMap(\.hosts))
    let lost = old.sites.filter { site in site.hosts.isEmpty || site.hosts.contains { !hosts.contains($0) } }
    let wanted = Set(uploads.map { Array(Authority.hostOnly($0.origin.head.authority)) }).subtracting(hosts)
    let older = (old.held.retired?.sites ?? []).filter { site in
      site.hosts.isEmpty ? !wanted.isEmpty : site.hosts.contains(where: wanted.contains)
    }
    return lost + older
  }

  /// - Returns: `nil` when no site answers for this host.
  func route(authority: Bytes, target: Bytes) -> RouteSettings? {
    guard let site = site(authority) else { return nil }
    guard !site.routes.isEmpty else { return site.settings }
    let path = target.prefix { $0 != 0x3f }
    return site.routes.first { $0.path.matches(path) }?.settings ?? site.settings
  }

  func site(_ authority: Bytes) -> Site? {
    let host = Authority.hostOnly(authority)
    return sites.first { $0.hosts.contains { $0.elementsEqual(host) } } ?? defaultSite
  }

  var all: [RouteSettings] { sites.flatMap(\.all) }

  /// Settings for requests that no site takes: they are refused, but logged and timed like others.
  var noRoute: RouteSettings { sites[0].settings }

  /// Where answers of this host may be stored.
  func caches(authority: Bytes) -> [CacheStore] {
    var found: [CacheStore] = []
    for cache in site(authority)?.all.compactMap(\.cache) ?? [] where !found.contains(where: { $0 === cache }) {
      found.append(cache)
    }
    return found
  }
}

// MARK: - Upload URLs

extension Router {
  enum FoundUpload {
    case none
    /// There was one.
    case tombstone
    /// With the route by which it goes on.
    case found(SpooledUpload, RouteSettings)
  }

  /// Whether the target is below the upload URLs of any site, of now or before.
  func mayBeUpload(_ target: Bytes) -> Bool { urls.mayHold(target) }

  /// The route for an upload's URL, whatever route the path itself would take: one of the site whose upload URLs the target
  /// is below, or the one by which an upload goes on whose URL was given out under other settings.
  func uploadRoute(authority: Bytes, target: Bytes) -> RouteSettings? {
    guard mayBeUpload(target) else { return nil }
    let now = site(authority)?.all.first { $0.uploads.map { target.starts(with: $0.prefix) } ?? false }
    if let prefix = now?.uploads?.prefix, UploadToken(RequestTarget.path(of: target).dropFirst(prefix.count)) != nil {
      return now
    }
    return heldRoute(authority, target) ?? now
  }

  private func heldRoute(_ authority: Bytes, _ target: Bytes) -> RouteSettings? {
    for (prefix, token) in urls.candidates(target) {
      switch held.find(UploadNames.id(token)) {
      case .none: break
      case .tombstone(let spool):
        return held.route(route(authority: authority, target: target), finishing: prefix, in: spool, lending: all[0])
      case .live(let upload, _): return finishing(upload, below: prefix)
      }
    }
    return nil
  }

  /// The upload of a URL, when a route of the same site made it.
  /// - Parameter near: the route found for the URL.
  func findUpload(_ id: UploadID?, authority: Bytes, near: RouteSettings) -> FoundUpload {
    guard let id else { return .none }
    switch held.find(id, near: near.uploads?.store) {
    case .none: return .none
    case .tombstone: return .tombstone
    case .live(let upload, _):
      guard isOfSite(upload, authority), let route = finishing(upload) else { return .none }
      return .found(upload, route)
    }
  }

  /// A part that a concatenation names (tus 1.0.0).
  func findPart(_ url: [UInt8], near: UploadStore? = nil) -> SpooledUpload? {
    for token in urls.tokens(ofPart: url) {
      if case .live(let upload, _) = held.find(UploadNames.id(token), near: near) { return upload }
    }
    return nil
  }

  /// Hosts may have changed their sites since: whoever asks at the upload's own is right.
  private func isOfSite(_ upload: SpooledUpload, _ authority: Bytes) -> Bool {
    let made = upload.origin.head.authority
    if let site = site(authority), site === self.site(made) { return true }
    return Authority.hostOnly(made).elementsEqual(Authority.hostOnly(authority))
  }

  /// By which settings an upload goes on: those of the route that is at its target now, whether or not that takes new ones;
  /// without one, those of the site that was there; without that, too, its bytes are kept, and wait for a site.
  /// - Parameter prefix: below which it was asked for; `nil`: that makes no difference.
  func finishing(_ upload: SpooledUpload, below prefix: [UInt8]? = nil) -> RouteSettings? {
    let origin = upload.origin
    let base =
      route(authority: origin.head.authority, target: origin.head.target)
      ?? held.retired?.route(authority: origin.head.authority, target: origin.head.target)
    if let uploads = base?.uploads, uploads.store.holds(upload), prefix == nil || prefix == uploads.prefix {
      return base
    }
    guard let spool = held.spool(of: upload) else { return nil }
    return held.route(base, finishing: prefix ?? origin.prefix ?? UploadURLs.usual, in: spool, lending: all[0])
  }
}
