import PawlConfig
import PawlHTTP
import PawlStore

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
  /// Where upload URLs live, over all sites.
  let uploadPrefixes: [[UInt8]]

  init(sites: [Site]) {
    self.sites = sites
    defaultSite = sites.first { $0.hosts.isEmpty }
    uploadPrefixes = Set(sites.flatMap(\.all).compactMap { $0.uploads?.prefix }).sorted { $0.count > $1.count }
  }

  /// - Returns: `nil` when no site answers for this host.
  func route(authority: Bytes, target: Bytes) -> RouteSettings? {
    guard let site = site(authority) else { return nil }
    guard !site.routes.isEmpty else { return site.settings }
    let path = target.prefix { $0 != 0x3f }
    return site.routes.first { $0.path.matches(path) }?.settings ?? site.settings
  }

  private func site(_ authority: Bytes) -> Site? {
    let host = Authority.hostOnly(authority)
    return sites.first { $0.hosts.contains { $0.elementsEqual(host) } } ?? defaultSite
  }

  var all: [RouteSettings] { sites.flatMap(\.all) }
}

// MARK: - Upload URLs

extension Router {
  enum FoundUpload {
    case none
    /// There was one.
    case tombstone
    /// With the route that its creation took.
    case found(SpooledUpload, RouteSettings)
  }

  /// Whether the target is below the upload URLs of any site.
  func mayBeUpload(_ target: Bytes) -> Bool { uploadPrefixes.contains { target.starts(with: $0) } }

  /// A route of the site whose upload URLs the target is below, whatever route the path itself would take.
  func uploadRoute(authority: Bytes, target: Bytes) -> RouteSettings? {
    guard mayBeUpload(target) else { return nil }
    return site(authority)?.all.first { $0.uploads.map { target.starts(with: $0.prefix) } ?? false }
  }

  /// The upload of a URL, when a route of the same site made it.
  /// - Parameter near: the route found for the URL.
  func findUpload(_ id: UploadID?, authority: Bytes, near: RouteSettings) -> FoundUpload {
    guard let id, let site = site(authority) else { return .none }
    let stores = ([near] + site.all).compactMap { $0.uploads?.store }
    // Each is asked once: what is there now may have been removed by another loop a moment later.
    guard let upload = stores.compactMap({ $0.find(id) }).first else {
      return stores.contains { $0.isTombstone(id) } ? .tombstone : .none
    }
    let head = upload.origin.head
    guard let route = route(authority: head.authority, target: head.target), route.uploads != nil,
      site.all.contains(where: { $0 === route })
    else { return .none }
    return .found(upload, route)
  }
}
