/// The results of a handshake.
package struct TLSFacts: Sendable {
  package var version: TLSVersion
  /// The cipher suite by OpenSSL's name: `TLS_AES_128_GCM_SHA256`.
  package var cipher: String
  /// The protocol both sides agreed on (RFC 7301): `h2`, `http/1.1`, or empty.
  package var applicationProtocol: [UInt8]
  /// The name that the client sent by SNI, in lower case; empty without SNI.
  package var serverName: [UInt8]
  /// Server side: the index of the section whose certificate was sent, in the order given to the context.
  package var section: Int
  /// Whether a session was resumed.
  package var isResumed: Bool
  /// The verified certificate of the peer. Server side: verified against `client-ca`.
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

/// A verified certificate of the peer.
package struct PeerCertificate: Hashable, Sendable {
  /// The certificate, DER.
  package var der: [UInt8]
  /// Issuer and subject in DER, joined: they identify the peer also after a renewal.
  package var identity: [UInt8]
  /// The subject, in the form of RFC 2253.
  package var subject: String

  package init(der: [UInt8], identity: [UInt8], subject: String) {
    (self.der, self.identity, self.subject) = (der, identity, subject)
  }
}

/// The facts about a certificate for `pawl check`, the log and `pawl version`.
package struct CertificateFacts: Hashable, Sendable {
  /// The name of the section `[tls:NAME]`.
  package var section: String
  package var file: String
  /// DNS names and addresses, lower case; wildcards unchanged.
  package var names: [String]
  /// The kind of key, such as `ECDSA P-256`, `RSA 2048` or `Ed25519`.
  package var keyKind: String
  /// Seconds since 1970.
  package var notBefore: Int64
  package var notAfter: Int64
  /// Whether an OCSP response is stapled to it.
  package var isStapled: Bool
  /// The issuer, where the file holds only this certificate. Clients must then have the issuer's certificate already.
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
