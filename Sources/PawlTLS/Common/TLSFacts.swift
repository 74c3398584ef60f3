/// What a handshake came to.
package struct TLSFacts: Sendable {
  package var version: TLSVersion
  /// As OpenSSL calls it: `TLS_AES_128_GCM_SHA256`.
  package var cipher: String
  /// The protocol both sides agreed on (RFC 7301): `h2`, `http/1.1`, or empty.
  package var applicationProtocol: [UInt8]
  /// What the client asked for by SNI, lower case; empty when it did not.
  package var serverName: [UInt8]
  /// Server side: index of the section, in the order given to the context, whose certificate was shown.
  package var section: Int
  /// Whether a session was resumed.
  package var isResumed: Bool
  /// What the peer proved to be. Server side: verified against `client-ca`.
  package var peerCertificate: PeerCertificate?

  package init(
    version: TLSVersion, cipher: String, applicationProtocol: [UInt8] = [], serverName: [UInt8] = [], section: Int = 0,
    isResumed: Bool = false, peerCertificate: PeerCertificate? = nil
  ) {
    (self.version, self.cipher, self.applicationProtocol) = (version, cipher, applicationProtocol)
    (self.serverName, self.section, self.isResumed) = (serverName, section, isResumed)
    self.peerCertificate = peerCertificate
  }
}

/// A verified certificate of the other side.
package struct PeerCertificate: Hashable, Sendable {
  /// The certificate, DER.
  package var der: [UInt8]
  /// Issuer and subject, DER, one behind the other: who it is, also after a renewal.
  package var identity: [UInt8]
  /// The subject, as RFC 2253 writes it.
  package var subject: String

  package init(der: [UInt8], identity: [UInt8], subject: String) {
    (self.der, self.identity, self.subject) = (der, identity, subject)
  }
}

/// What `pawl check`, the log and `pawl version` say about a certificate.
package struct CertificateFacts: Hashable, Sendable {
  /// Name of the `[tls:NAME]`.
  package var section: String
  package var file: String
  /// DNS names and addresses, lower case; wildcards as they stand.
  package var names: [String]
  /// `ECDSA P-256`, `RSA 2048`, `Ed25519`.
  package var keyKind: String
  /// Seconds since 1970.
  package var notBefore: Int64
  package var notAfter: Int64
  /// Whether a response to staple belongs to it.
  package var isStapled: Bool
  /// Who issued it, where the file holds nothing but this certificate: clients must have that one's.
  package var missingIssuer: String?

  package init(
    section: String, file: String, names: [String], keyKind: String, notBefore: Int64, notAfter: Int64, isStapled: Bool,
    missingIssuer: String? = nil
  ) {
    (self.section, self.file, self.names, self.keyKind) = (section, file, names, keyKind)
    (self.notBefore, self.notAfter, self.isStapled) = (notBefore, notAfter, isStapled)
    self.missingIssuer = missingIssuer
  }
}
