/// `[listen:NAME]`: where clients connect, and how patient pawl is with them.
package struct ListenerSettings: Hashable, Sendable {
  package var name: String
  package var addresses: [ListenAddress] = [.internet(host: "127.0.0.1", port: 8080)]
  /// Names of `[tls:NAME]` sections, the default first; empty: in clear.
  package var tls = [String]()
  /// Whether clients may speak HTTP/2: chosen by ALPN over TLS, by prior knowledge in clear.
  package var http2 = true
  /// Streams at the same time on one HTTP/2 connection.
  package var maxStreams = 128
  /// What the receive windows of one HTTP/2 connection may grow to, in bytes.
  package var maxWindow: UInt64 = 16 << 20
  /// Whether each connection begins with a PROXY protocol header, v1 or v2, which `trusted-proxies` alone may send.
  package var proxyProtocol = false
  /// From the first byte of a request until its head is whole.
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
      .list("tls", \.tls, .name, empty: "none", commas: true),
      .scalar("http2", \.http2, .boolean),
      .scalar("max-streams", \.maxStreams, .count(1...10_000)),
      .scalar("max-window", \.maxWindow, .size(1 << 20...1 << 30)),
      .scalar("proxy-protocol", \.proxyProtocol, .boolean),
      .scalar("header-timeout", \.headerTimeout, .positiveTime),
      .scalar("keepalive-timeout", \.keepaliveTimeout, .positiveTime),
      .scalar("send-timeout", \.sendTimeout, .positiveTime),
      .scalar("max-header", \.maxHeader, .size(1 << 10...1 << 20)),
      .scalar("max-header-fields", \.maxHeaderFields, .count(8...10_000)),
    ]
  }
}

/// `[tls:NAME]`: an identity for TLS, shown to clients that ask for one of its certificates' names.
package struct TLSSettings: Hashable, Sendable {
  package enum ClientCertificate: String, Hashable, Sendable, CaseIterable { case off, optional, required }
  package enum Version: String, Hashable, Sendable, CaseIterable { case v12 = "1.2", v13 = "1.3" }

  package var name: String
  /// PEM files, a key for each certificate in the same order: one for each kind of key (ECDSA, RSA) or set of names.
  package var certificateFiles = [String]()
  package var keyFiles = [String]()
  /// Files with an OCSP response (DER), stapled to the certificate that each is about.
  package var ocsp = [String]()
  package var clientCA: String?
  package var clientCertificate = ClientCertificate.off
  package var minVersion = Version.v12

  package init(name: String) { self.name = name }

  static var keys: [Key<TLSSettings>] {
    [
      .entries("certificate", \.certificateFiles, .path, empty: "none", isRequired: true),
      .entries("key", \.keyFiles, .path, empty: "none", isRequired: true),
      .entries("ocsp", \.ocsp, .path, empty: "none"),
      .scalar("client-ca", \.clientCA, .optional(.path, word: "none")),
      .scalar("client-certificate", \.clientCertificate, .choice()),
      .scalar("min-version", \.minVersion, .choice()),
    ]
  }
}
