/// `[listen:NAME]`: where clients connect, and how patient pawl is with them.
package struct ListenerSettings: Hashable, Sendable {
  package var name: String
  package var addresses: [ListenAddress] = [.internet(host: "127.0.0.1", port: 8080)]
  /// Name of a `[tls:NAME]`; not served by this version, so `nil` in a loaded configuration.
  package var tls: String?
  /// Not served by this version, so `false` in a loaded configuration.
  package var proxyProtocol = false
  /// From the first octet of a request until its head is whole.
  package var headerTimeout = Duration.seconds(15)
  /// Idle between two requests.
  package var keepaliveTimeout = Duration.seconds(60)
  /// Without any progress in sending.
  package var sendTimeout = Duration.seconds(60)
  /// Bytes of a request's head; 431 beyond.
  package var maxHeader: UInt64 = 32 << 10
  package var maxHeaderFields = 128

  package init(name: String) { self.name = name }

  static var keys: [Key<ListenerSettings>] {
    [
      .list("address", \.addresses, .listenAddress, empty: nil, commas: true),
      .scalar("tls", \.tls, .optional(.name, word: "none")),
      .scalar("proxy-protocol", \.proxyProtocol, .boolean),
      .scalar("header-timeout", \.headerTimeout, .positiveTime),
      .scalar("keepalive-timeout", \.keepaliveTimeout, .positiveTime),
      .scalar("send-timeout", \.sendTimeout, .positiveTime),
      .scalar("max-header", \.maxHeader, .size(1 << 10...1 << 20)),
      .scalar("max-header-fields", \.maxHeaderFields, .count(8...10_000)),
    ]
  }
}

/// `[tls:NAME]`: parsed and checked; used by a later version.
package struct TLSSettings: Hashable, Sendable {
  package enum ClientCertificate: String, Hashable, Sendable, CaseIterable { case off, optional, required }
  package enum Version: String, Hashable, Sendable, CaseIterable { case v12 = "1.2", v13 = "1.3" }

  package var name: String
  /// PEM files.
  package var certificate = ""
  package var key = ""
  package var clientCA: String?
  package var clientCertificate = ClientCertificate.off
  package var minVersion = Version.v12

  package init(name: String) { self.name = name }

  static var keys: [Key<TLSSettings>] {
    [
      .scalar("certificate", \.certificate, .path, isRequired: true),
      .scalar("key", \.key, .path, isRequired: true),
      .scalar("client-ca", \.clientCA, .optional(.path, word: "none")),
      .scalar("client-certificate", \.clientCertificate, .choice()),
      .scalar("min-version", \.minVersion, .choice()),
    ]
  }
}
