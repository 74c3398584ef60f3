/// A configuration: typed, checked, and with its defaults filled in.
///
/// Made by ``ConfigurationLoader``. The built-in sections (the listener on `127.0.0.1:8080`, the cache and the spool called
/// `default`) are in the lists if something uses them.
package struct Configuration: Sendable {
  package var process: ProcessSettings
  package var listeners: [ListenerSettings]
  package var tls: [TLSSettings]
  package var caches: [CacheSettings]
  package var spools: [SpoolSettings]
  package var upstreams: [UpstreamSection]
  package var sites: [SiteSection]
  package var admin: AdminSettings
  /// Each section with all of its keys, the values in effect, and the places where they were set.
  package var effective: [EffectiveSection]
  /// Issues that do not prevent pawl from starting.
  package var warnings: [Issue]
  /// The absolute path of the file; `nil`: there is none (`pawl serve --to`).
  package var file: String?

  package func upstream(named name: String) -> UpstreamSection? { upstreams.first { $0.name == name } }
  package func cache(named name: String) -> CacheSettings? { caches.first { $0.name == name } }
  package func spool(named name: String) -> SpoolSettings? { spools.first { $0.name == name } }
  /// The built-in spool, whether or not a site uses it.
  package var builtInSpool: SpoolSettings {
    SpoolSettings(name: "default", path: FilePath.resolve("spool", from: process.stateDirectory))
  }
  package func tls(named name: String) -> TLSSettings? { tls.first { $0.name == name } }

  /// Returns the place where a value was set; the place of the section's header if the value was not written.
  /// - Parameters:
  ///   - label: the section's label, such as `tls:web`.
  ///   - value: the text of one element, if the key is a list.
  package func place(of key: String, _ value: String? = nil, in label: String) -> ValueOrigin {
    guard let section = effective.first(where: { $0.label == label }) else { return .builtIn }
    let entry = section.values.first { $0.key == key && (value == nil || $0.text == value) && $0.origin != .builtIn }
    return entry?.origin ?? section.origin
  }

  /// Returns a message without the values that came from files of their own.
  package func hidingSecrets(_ message: String) -> String {
    Redaction.without(effective.flatMap { $0.values.filter(\.isSecret).map(\.text) }, in: message)
  }

  /// Returns the site with this host, or else the default site.
  /// - Parameter host: in lower case and without a port.
  package func site(forHost host: String) -> SiteSection? {
    sites.first { $0.hosts.contains(host) } ?? sites.first { $0.hosts.isEmpty }
  }
}

/// One section with the values in effect, for `pawl config`.
package struct EffectiveSection: Hashable, Sendable {
  package struct Value: Hashable, Sendable {
    package var key: String
    package var text: String
    package var origin: ValueOrigin
    /// Whether the value came from a file of its own (`${file:PATH}`), and may be a secret.
    package var isSecret = false
    /// The value, or what stands in its place.
    package var shown: String { isSecret ? Secret.shown : text }
  }
  /// The section's label: `pawl`, `site:files`, …
  package var label: String
  package var origin: ValueOrigin
  package var values: [Value]
}
