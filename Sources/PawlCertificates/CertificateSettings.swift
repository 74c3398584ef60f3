package import PawlConfig
package import PawlTLS

extension TLSSettings {
  /// The section as `PawlTLS` takes it. The configuration has been checked to name as many key files as certificate files.
  package var forServer: TLSServerSettings {
    TLSServerSettings(
      name: name, pairs: zip(certificateFiles, keyFiles).map { TLSKeyPair(certificate: $0, key: $1) },
      ocspResponses: ocsp, clientCA: clientCA, clientCertificates: clientCertificate.forServer,
      minVersion: minVersion == .v13 ? .v13 : .v12)
  }
}

extension TLSSettings.ClientCertificate {
  fileprivate var forServer: TLSServerSettings.ClientCertificates {
    switch self {
    case .off: .off
    case .optional: .optional
    case .required: .required
    }
  }
}

extension PawlConfig.Configuration {
  /// The TLS sections of a listener, the default first; empty for a listener in clear text.
  func sections(of listener: ListenerSettings) -> [TLSServerSettings] {
    listener.tls.compactMap { tls(named: $0)?.forServer }
  }
}

extension UpstreamSection {
  /// The TLS settings for the upstream's `https://` URLs; `nil`: it has no such URL.
  package var forTLS: TLSClientSettings? {
    guard urls.contains(where: \.isTLS) else { return nil }
    var pair: TLSKeyPair?
    if let tlsCertificate, let tlsKey { pair = TLSKeyPair(certificate: tlsCertificate, key: tlsKey) }
    return TLSClientSettings(
      verifies: tlsVerify, ca: tlsCA, pair: pair, minVersion: tlsMinVersion == .v13 ? .v13 : .v12)
  }
}
