import COpenSSL

/// What holds for every connection, whichever side of it is pawl's.
enum ContextRules {
  /// OpenSSL's buffer for what came ahead of the record at hand, in octets: it is there while records arrive.
  static let readAhead = 64 << 10
  /// TLS 1.2: ephemeral keys and authenticated ciphers only.
  static let ciphers = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ].joined(separator: ":")
  static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
  /// By preference; the first three are what clients offer a share for.
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

  /// Puts a certificate, its chain and its key into their place by kind of key.
  static func use(_ pair: LoadedPair, in context: OpaquePointer) throws(TLSProblem) {
    guard let chain = OPENSSL_sk_new_null() else { throw TLSProblem("out of memory") }
    defer { OPENSSL_sk_free(chain) }
    for link in pair.chain.dropFirst() { OPENSSL_sk_push(chain, UnsafeRawPointer(link.raw)) }
    ERR_clear_error()
    guard SSL_CTX_use_cert_and_key(context, pair.leaf.raw, pair.key.raw, chain, 1) == 1 else {
      throw TLSProblem("cannot be used: \(OpenSSLError.take().reason)", file: pair.files.certificate)
    }
  }
}

/// A certificate, its chain and its key, read and found to belong together.
struct LoadedPair {
  let files: TLSKeyPair
  /// The leaf first; never empty.
  let chain: [Certificate]
  let key: PrivateKey
  let leaf: Certificate

  /// - Throws: ``TLSProblem`` about either file.
  init(_ files: TLSKeyPair) throws(TLSProblem) {
    self.files = files
    chain = try PEMFile(files.certificate).certificates()
    guard let first = chain.first else { throw TLSProblem("holds no certificate", file: files.certificate) }
    leaf = first
    key = try PEMFile(files.key).privateKey()
    ERR_clear_error()
    guard X509_check_private_key(leaf.raw, key.raw) == 1 else {
      ERR_clear_error()
      let isElsewhere = chain.dropFirst().contains { X509_check_private_key($0.raw, key.raw) == 1 }
      ERR_clear_error()
      if isElsewhere {
        throw TLSProblem("the certificate that belongs to the key must be the first one", file: files.certificate)
      }
      throw TLSProblem("the key does not belong to the certificate in \(files.certificate)", file: files.key)
    }
  }

  /// Who issued the only certificate of the file, where that is somebody else.
  var missingIssuer: String? { chain.count == 1 && !leaf.isSelfIssued ? leaf.issuer : nil }

  /// What does not hinder, but will disappoint somebody.
  var warnings: [TLSProblem] {
    guard !leaf.isSelfIssued else { return [] }
    let file = files.certificate
    guard chain.count > 1 else {
      // Where an authority of one's own has issued it, its root is what clients have.
      guard leaf.saysWhereIssuerIs else { return [] }
      let words = "holds no certificate of its issuer (\(leaf.issuer)): clients that do not have it can not verify"
      return [TLSProblem(words, file: file)]
    }
    for (link, next) in zip(chain, chain.dropFirst()) where !link.wasIssued(by: next) {
      let isThere = chain.contains { link.wasIssued(by: $0) }
      let words =
        isThere
        ? "the chain is out of order: \(next.subject) stands where the issuer of \(link.subject) should"
        : "holds no certificate of the issuer of \(link.subject) (\(link.issuer))"
      return [TLSProblem(words, file: file)]
    }
    return []
  }
}
