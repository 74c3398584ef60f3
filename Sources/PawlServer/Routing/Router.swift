import PawlCacheStore
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// Finds the route of a request: the site that names its host, else the default site; then the route with the longest matching
/// path.
final class Router: Sendable {
  final class Site: Sendable {
    let hosts: [[UInt8]]
    let settings: RouteSettings
    /// The routes; the longest path first.
    let routes: [(path: PathPattern, settings: RouteSettings)]

    init(hosts: [[UInt8]], settings: RouteSettings, routes: [(path: PathPattern, settings: RouteSettings)]) {
      (self.hosts, self.settings, self.routes) = (hosts, settings, routes)
    }

    var all: [RouteSettings] { [settings] + routes.map(\.settings) }
  }

  private let sites: [Site]
  private let defaultSite: Site?
  /// The paths of upload URLs of all sites, present and former.
  let urls: UploadURLs
  /// The uploads of all open spools.
  let held: UploadLookup

  /// - Parameters:
  ///   - spools: all open spools, those that the sites use first.
  ///   - old: the router that this one replaces; uploads that began with the old router go on.
  init(sites: [Site], spools: [OpenSpool] = [], old: Router? = nil) {
    self.sites = sites
    defaultSite = sites.first { $0.hosts.isEmpty }
    let uploads = spools.flatMap(\.store.uploads)
    // An upload that is being created at this moment gets its URL by the former settings.
    let former = (old?.urls.current ?? []) + Set(uploads.map { $0.origin.prefix ?? UploadURLs.usual })
    urls = UploadURLs(
      current: sites.flatMap(\.all).compactMap { $0.uploads?.prefix }, former: former,
      remembered: (old?.urls.former ?? []) + (old?.urls.remembered ?? []))
    held = UploadLookup(spools, retired: Self.retired(from: old, by: sites, uploads))
  }

  /// Returns the sites that do not exist any more, the latest first: those of the replaced router with a host that no site has
  /// now, and those of earlier routers that uploads still need.
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

  /// Returns the route of a request; `nil` when no site has this host.
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

  /// The settings for requests whose host no site has: such requests are refused, but logged and timed like any other.
  var noRoute: RouteSettings { sites[0].settings }

  /// Returns the caches in which responses for this host may be stored.
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
    /// An upload had this URL, but does not exist any more.
    case tombstone
    /// The upload, and the route by which it goes on.
    case found(SpooledUpload, RouteSettings)
  }

  /// Whether the target is below the path of upload URLs of any site, present or former.
  func mayBeUpload(_ target: Bytes) -> Bool { urls.mayHold(target) }

  /// Returns the route of an upload's URL, which may differ from the route that the path alone would have. If the target is an
  /// upload URL by the present settings of the site, it is the route with these settings. If the upload was created under other
  /// settings, it is the route by which the upload goes on.
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

  /// Returns the upload of a URL, if it was created on the same site.
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

  /// Returns the upload that is one part of a concatenation (tus 1.0.0).
  func findPart(_ url: [UInt8], near: UploadStore? = nil) -> SpooledUpload? {
    for token in urls.tokens(ofPart: url) {
      if case .live(let upload, _) = held.find(UploadNames.id(token), near: near) { return upload }
    }
    return nil
  }

  /// Whether a request's host belongs to the site of the upload. Hosts may have moved to other sites since the upload's creation,
  /// so the host of the upload itself is always accepted.
  private func isOfSite(_ upload: SpooledUpload, _ authority: Bytes) -> Bool {
    let made = upload.origin.head.authority
    if let site = site(authority), site === self.site(made) { return true }
    return Authority.hostOnly(made).elementsEqual(Authority.hostOnly(authority))
  }

  /// Returns the route by which an upload goes on.
  ///
  /// It is the present route of the upload's target, even if that route accepts no new uploads; else the route of the former
  /// site; else a route without a site, on which the bytes are kept but not delivered. `nil` where no open spool has the upload.
  /// - Parameter prefix: the path of the URL that was requested; `nil`: any.
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
