/// Everything a configuration says, typed, checked and with its defaults filled in.
///
/// Made by ``ConfigurationLoader``. Sections that exist by themselves (the listener on `127.0.0.1:8080`, the cache and the
/// spool called `default`) are in the lists when something uses them.
package struct Configuration: Sendable {
  package var process: ProcessSettings
  package var listeners: [ListenerSettings]
  package var tls: [TLSSettings]
  package var caches: [CacheSettings]
  package var spools: [SpoolSettings]
  package var upstreams: [UpstreamSection]
  package var sites: [SiteSection]
  package var admin: AdminSettings
  /// Each section with each of its keys, the value in effect and where it came from.
  package var effective: [EffectiveSection]
  /// What is doubtful but does not keep pawl from starting.
  package var warnings: [Issue]

  package func upstream(named name: String) -> UpstreamSection? { upstreams.first { $0.name == name } }
  package func cache(named name: String) -> CacheSettings? { caches.first { $0.name == name } }
  package func spool(named name: String) -> SpoolSettings? { spools.first { $0.name == name } }
  /// The spool that exists by itself, whether or not anything uses it.
  package var builtInSpool: SpoolSettings {
    SpoolSettings(name: "default", path: FilePath.resolve("spool", from: process.stateDirectory))
  }
  package func tls(named name: String) -> TLSSettings? { tls.first { $0.name == name } }

  /// Where a value of a section was written; where its header stands, when it was not.
  /// - Parameters:
  ///   - label: as `tls:web`.
  ///   - value: which one of a list.
  package func place(of key: String, _ value: String? = nil, in label: String) -> ValueOrigin {
    guard let section = effective.first(where: { $0.label == label }) else { return .builtIn }
    let entry = section.values.first { $0.key == key && (value == nil || $0.text == value) && $0.origin != .builtIn }
    return entry?.origin ?? section.origin
  }

  /// The site that names `host`, else the default site.
  /// - Parameter host: in lower case and without a port.
  package func site(forHost host: String) -> SiteSection? {
    sites.first { $0.hosts.contains(host) } ?? sites.first { $0.hosts.isEmpty }
  }
}

/// One section as it is in effect, for `pawl config`.
package struct EffectiveSection: Hashable, Sendable {
  package struct Value: Hashable, Sendable {
    package var key: String
    package var text: String
    package var origin: ValueOrigin
  }
  /// `pawl`, `site:files`, …
  package var label: String
  package var origin: ValueOrigin
  package var values: [Value]
}
