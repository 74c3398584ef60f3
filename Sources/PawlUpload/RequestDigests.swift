/// The digests pawl can check.
package enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case sha256 = "sha-256", sha512 = "sha-512", sha1, md5, crc32
}

/// What content is said to hash to.
package struct DigestClaim: Hashable, Sendable {
  package var algorithm: DigestAlgorithm
  package var value: [UInt8]

  package init(_ algorithm: DigestAlgorithm, _ value: [UInt8]) { (self.algorithm, self.value) = (algorithm, value) }
}

/// The digests of one request (RFC 9530; tus 1.0.0, checksum).
package struct RequestDigests: Hashable, Sendable {
  /// Of this request's content: `Content-Digest` or tus `Upload-Checksum`.
  package var content: [DigestClaim] = []
  /// They come behind the content.
  package var isInTrailer = false
  /// Of the whole upload: `Repr-Digest`.
  package var representation: [DigestClaim] = []

  package init() {}
}
