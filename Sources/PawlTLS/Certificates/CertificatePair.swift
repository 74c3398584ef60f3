import COpenSSL

/// A certificate with its chain and its private key, after a check that they belong together.
struct CertificatePair {
  let files: TLSKeyPair
  /// The certificates, the leaf first; never empty.
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

  /// The issuer of the only certificate in the file, unless it is self-issued.
  var missingIssuer: String? { chain.count == 1 && !leaf.isSelfIssued ? leaf.issuer : nil }

  /// Problems that do not prevent loading, but that clients will notice.
  var warnings: [TLSProblem] {
    guard !leaf.isSelfIssued else { return [] }
    let file = files.certificate
    guard chain.count > 1 else {
      // A private authority may have issued the leaf directly, with a root certificate that its clients have.
      guard leaf.saysWhereIssuerIs else { return [] }
      let words = "holds no certificate of its issuer (\(leaf.issuer)): clients that do not have it cannot verify"
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
