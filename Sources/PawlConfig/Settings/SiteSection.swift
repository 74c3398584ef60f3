/// `[site:NAME]`: the hosts a set of rules is for.
package struct SiteSection: Hashable, Sendable {
  package var name: String
  /// Lower case, without port. Empty: the default site, for every other host.
  package var hosts = [String]()
  /// What holds where no route does.
  package var settings = SiteSettings()
  /// In the order they are tried: the longest path first.
  package var routes = [RouteSection]()

  package init(name: String) { self.name = name }

  /// The settings of the route that `path` falls into, else the site's own.
  /// - Parameter path: of the request target, as received, without the query.
  package func settings(forPath path: ArraySlice<UInt8>) -> SiteSettings {
    routes.first { $0.path.matches(path) }?.settings ?? settings
  }

  static var keys: [Key<SiteSection>] {
    [.list("host", \.hosts, .host, empty: "any", commas: true)]
      + SiteSettings.keys.map { $0.lifted(through: \.settings) }
  }
}

/// `[route:SITE/NAME]`: the part of a site below a path, with all of its settings, inherited ones included.
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

/// A path, or with `*` at its end everything that begins with what stands before it.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
  package var literal: [UInt8]
  package var isPrefix: Bool

  package init(literal: [UInt8], isPrefix: Bool) { (self.literal, self.isPrefix) = (literal, isPrefix) }

  // Not generic: that would be called by its slow form from other modules, thousands of instructions a route.
  package func matches(_ path: ArraySlice<UInt8>) -> Bool {
    isPrefix ? path.starts(with: literal) : path.elementsEqual(literal)
  }

  package var description: String { String(decoding: literal, as: UTF8.self) + (isPrefix ? "*" : "") }

  /// Whether this pattern is tried before `other`: longest literal first, the exact path before the prefix.
  func precedes(_ other: PathPattern) -> Bool {
    if literal.count != other.literal.count { return literal.count > other.literal.count }
    return !isPrefix && other.isPrefix
  }
}
