/// `[site:NAME]`: hosts, and the settings for requests to them.
package struct SiteSection: Hashable, Sendable {
  package var name: String
  /// The hosts of the site in lower case, without port. A site without hosts is the default site, for all other hosts.
  package var hosts = [String]()
  /// The settings for paths without a route.
  package var settings = SiteSettings()
  /// The routes in the order in which they are tried: the longest path first.
  package var routes = [RouteSection]()

  package init(name: String) { self.name = name }

  /// Returns the settings of the route that matches `path`; without such a route, the settings of the site.
  /// - Parameter path: the path of the request target, as received, without the query.
  package func settings(forPath path: ArraySlice<UInt8>) -> SiteSettings {
    routes.first { $0.path.matches(path) }?.settings ?? settings
  }

  static var keys: [Key<SiteSection>] {
    [.list("host", \.hosts, .host, empty: "any", commas: true)]
      + SiteSettings.keys.map { $0.lifted(through: \.settings) }
  }
}

/// `[route:SITE/NAME]`: the part of a site below a path, with all settings, inherited ones included.
package struct RouteSection: Hashable, Sendable {
  package var site: String
  package var name: String
  package var path = PathPattern(literal: [], isPrefix: true)
  package var settings: SiteSettings

  package init(site: String, name: String, settings: SiteSettings) {
    (self.site, self.name, self.settings) = (site, name, settings)
  }

  static var keys: [Key<RouteSection>] {
    [.scalar("path", \.path, .pathPattern, isRequired: true)] + SiteSettings.keys.map { $0.lifted(through: \.settings) }
  }
}

/// A pattern for paths: one path, or with `*` at the end all paths that begin with the text before the `*`.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
  package var literal: [UInt8]
  package var isPrefix: Bool

  package init(literal: [UInt8], isPrefix: Bool) { (self.literal, self.isPrefix) = (literal, isPrefix) }

  // This function is not generic, because other modules would call its unspecialised form, which takes thousands of instructions
  // for each route.
  package func matches(_ path: ArraySlice<UInt8>) -> Bool {
    isPrefix ? path.starts(with: literal) : path.elementsEqual(literal)
  }

  package var description: String { String(decoding: literal, as: UTF8.self) + (isPrefix ? "*" : "") }

  /// Whether this pattern is tried before `other`. A longer literal comes first; of equal literals, the exact path comes before
  /// the prefix.
  func precedes(_ other: PathPattern) -> Bool {
    if literal.count != other.literal.count { return literal.count > other.literal.count }
    return !isPrefix && other.isPrefix
  }
}
