import PawlConfig
import PawlHTTP

/// Which route a request takes: the site that names its host, else the default site; then the longest path.
final class Router: Sendable {
  struct Site: Sendable {
    let hosts: [[UInt8]]
    let settings: RouteSettings
    /// The longest first.
    let routes: [(path: PathPattern, settings: RouteSettings)]
  }

  private let sites: [Site]
  private let defaultSite: Site?

  init(sites: [Site]) {
    self.sites = sites
    defaultSite = sites.first { $0.hosts.isEmpty }
  }

  /// - Returns: `nil` when no site answers for this host.
  func route(authority: Bytes, target: Bytes) -> RouteSettings? {
    let host = Authority.hostOnly(authority)
    guard let site = sites.first(where: { $0.hosts.contains { $0.elementsEqual(host) } }) ?? defaultSite else {
      return nil
    }
    guard !site.routes.isEmpty else { return site.settings }
    let path = target.prefix { $0 != 0x3f }
    return site.routes.first { $0.path.matches(path) }?.settings ?? site.settings
  }

  var all: [RouteSettings] { sites.flatMap { [$0.settings] + $0.routes.map(\.settings) } }
}
