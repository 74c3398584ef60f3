import COpenSSL

/// The TLS rules of all connections, on the server side and the client side.
enum ContextRules {
  /// The size of OpenSSL's buffer for bytes ahead of the current record; it exists while records arrive.
  static let readAhead = 64 << 10
  /// TLS 1.2: ephemeral keys and authenticated ciphers only.
  static let ciphers = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ].joined(separator: ":")
  static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
  /// Key exchange groups in order of preference; clients send key shares for the first three.
  static let groups = "X25519:P-256:P-384:X448:P-521:ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192"

  /// A new `SSL_CTX` with these rules.
  static func make(_ method: OpaquePointer?, minVersion: TLSVersion) throws(TLSProblem) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(method) else { throw TLSProblem("OpenSSL: \(OpenSSLError.take().reason)") }
    let isSet =
      pawl_ssl_ctx_set_min_version(context, number(minVersion)) == 1
      && SSL_CTX_set_cipher_list(context, ciphers) == 1 && SSL_CTX_set_ciphersuites(context, suites) == 1
      && pawl_ssl_ctx_set_groups(context, groups) == 1
    guard isSet else {
      SSL_CTX_free(context)
      throw TLSProblem("OpenSSL: \(OpenSSLError.take().reason)")
    }
    pawl_ssl_ctx_set_common_options(context)
    pawl_ssl_ctx_set_modes(context)
    pawl_ssl_ctx_set_read_ahead(context, readAhead)
    return context
  }

  static func number(_ version: TLSVersion) -> CInt {
    switch version {
    case .v12: CInt(TLS1_2_VERSION)
    case .v13: CInt(TLS1_3_VERSION)
    }
  }

  /// Sets a certificate, its chain and its key in a context, in the slot of its kind of key.
  static func use(_ pair: CertificatePair, in context: OpaquePointer) throws(TLSProblem) {
    guard let chain = OPENSSL_sk_new_null() else { throw TLSProblem("out of memory") }
    defer { OPENSSL_sk_free(chain) }
    for link in pair.chain.dropFirst() { OPENSSL_sk_push(chain, UnsafeRawPointer(link.raw)) }
    ERR_clear_error()
    guard SSL_CTX_use_cert_and_key(context, pair.leaf.raw, pair.key.raw, chain, 1) == 1 else {
      throw TLSProblem("cannot be used: \(OpenSSLError.take().reason)", file: pair.files.certificate)
    }
  }
}
