/// `[listen:NAME]`: addresses that clients connect to, with the timeouts and limits of these connections.
package struct ListenerSettings: Hashable, Sendable {
  package var name: String
  package var addresses: [ListenAddress] = [.internet(host: "127.0.0.1", port: 8080)]
  /// The permissions of the files of unix sockets; `nil`: what the umask leaves.
  package var unixMode: FileMode?
  /// Names of `[tls:NAME]` sections, the default one first. An empty list means no TLS.
  package var tls = [String]()
  /// Whether clients may use HTTP/2: negotiated by ALPN over TLS, with prior knowledge in clear.
  package var http2 = true
  /// The most concurrent streams on one HTTP/2 connection.
  package var maxStreams = 128
  /// The largest size of the receive windows of one HTTP/2 connection, in bytes.
  package var maxWindow: UInt64 = 16 << 20
  /// Whether each connection begins with a PROXY protocol header, version 1 or 2. Only `trusted-proxies` may send this header.
  package var proxyProtocol = false
  /// The longest time from the first byte of a request until its head is complete.
  package var headerTimeout = Duration.seconds(15)
  /// The longest idle time between two requests.
  package var keepaliveTimeout = Duration.seconds(60)
  /// The longest time without progress in sending.
  package var sendTimeout = Duration.seconds(60)
  /// The largest request head in bytes. A larger one gets the status 431.
  package var maxHeader: UInt64 = 32 << 10
  package var maxHeaderFields = 128
  /// The path of a probe that pawl answers itself; `nil`: none.
  package var healthPath: String?

  package init(name: String) { self.name = name }

  static var keys: [Key<ListenerSettings>] {
    [
      .list("address", \.addresses, .listenAddress, empty: nil, commas: true),
      .scalar("unix-mode", \.unixMode, .optional(.fileMode, word: "umask")),
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
      .scalar("health-path", \.healthPath, .optional(.requestPath, word: "none")),
    ]
  }
}

/// `[tls:NAME]`: certificates for TLS, used for clients that ask (by SNI) for a name in one of the certificates.
package struct TLSSettings: Hashable, Sendable {
  package enum ClientCertificate: String, Hashable, Sendable, CaseIterable { case off, optional, required }
  package enum Version: String, Hashable, Sendable, CaseIterable { case v12 = "1.2", v13 = "1.3" }

  package var name: String
  /// PEM files. The private key of each certificate is at the same position in `keyFiles`. There is one certificate for each kind
  /// of key (ECDSA, RSA) or set of names.
  package var certificateFiles = [String]()
  package var keyFiles = [String]()
  /// Files with an OCSP response (DER). Each response is stapled to the certificate whose status it contains.
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
