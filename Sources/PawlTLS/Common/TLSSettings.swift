/// The versions of TLS that pawl speaks.
package enum TLSVersion: Hashable, Sendable { case v12, v13 }

/// A certificate chain and its private key, each a PEM file.
package struct TLSKeyPair: Hashable, Sendable {
  package var certificate: String
  package var key: String
  package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// A section `[tls:NAME]`: one identity of a listener, with one or several kinds of key.
package struct TLSServerSettings: Hashable, Sendable {
  package enum ClientCertificates: Hashable, Sendable { case off, optional, required }

  package var name: String
  /// Never empty: one pair for each kind of key (ECDSA, RSA) and set of names.
  package var pairs: [TLSKeyPair]
  /// Files with a DER-encoded OCSP response each, which is stapled to its certificate.
  package var ocspResponses: [String]
  /// PEM file of the authorities that must have issued the certificates of clients.
  package var clientCA: String?
  package var clientCertificates: ClientCertificates
  package var minVersion: TLSVersion

  package init(
    name: String, pairs: [TLSKeyPair], ocspResponses: [String] = [], clientCA: String? = nil,
    clientCertificates: ClientCertificates = .off, minVersion: TLSVersion = .v12
  ) {
    (self.name, self.pairs, self.ocspResponses, self.clientCA) = (name, pairs, ocspResponses, clientCA)
    (self.clientCertificates, self.minVersion) = (clientCertificates, minVersion)
  }

  /// All files of the section.
  package var files: [String] {
    pairs.flatMap { [$0.certificate, $0.key] } + ocspResponses + (clientCA.map { [$0] } ?? [])
  }
}

/// The settings of TLS to an origin.
package struct TLSClientSettings: Hashable, Sendable {
  /// Whether the origin's certificate is verified: chain, time and name.
  package var verifies: Bool
  /// PEM file of the authorities trusted instead of the system's.
  package var ca: String?
  /// The certificate of pawl, for origins that request one.
  package var pair: TLSKeyPair?
  package var minVersion: TLSVersion
  package var maxVersion: TLSVersion
  /// The protocols offered by ALPN (RFC 7301), in order of preference.
  package var protocols: [String]

  package init(
    verifies: Bool = true, ca: String? = nil, pair: TLSKeyPair? = nil, minVersion: TLSVersion = .v12,
    maxVersion: TLSVersion = .v13, protocols: [String] = ["http/1.1"]
  ) {
    (self.verifies, self.ca, self.pair, self.minVersion) = (verifies, ca, pair, minVersion)
    (self.maxVersion, self.protocols) = (maxVersion, protocols)
  }
}
