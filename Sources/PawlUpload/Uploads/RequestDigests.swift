import PawlBase
package import PawlHTTP

/// The digest algorithms that pawl can check.
package enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case sha256 = "sha-256", sha512 = "sha-512", sha1, md5, crc32

  /// The number of bytes of a digest. CRC-32 is a number in network byte order.
  package var length: Int {
    switch self {
    case .sha256: 32
    case .sha512: 64
    case .sha1: 20
    case .md5: 16
    case .crc32: 4
    }
  }
}

/// A digest that a client sent, with its algorithm.
package struct DigestClaim: Hashable, Sendable {
  package var algorithm: DigestAlgorithm
  package var value: [UInt8]

  package init(_ algorithm: DigestAlgorithm, _ value: [UInt8]) { (self.algorithm, self.value) = (algorithm, value) }
}

/// The digests of one request (RFC 9530; tus 1.0.0, checksum).
package struct RequestDigests: Hashable, Sendable {
  /// The digests of this request's content: `Content-Digest` or tus `Upload-Checksum`.
  package var content: [DigestClaim] = []
  /// Whether the digests of the content come in the trailers, after the content.
  package var isInTrailer = false
  /// The digests of the complete upload: `Repr-Digest`.
  package var representation: [DigestClaim] = []

  package init() {}

  /// Parses the checksum of a tus request (tus 1.0.0, checksum and checksum-trailer).
  /// - Throws: ``UploadRefusal/unknownDigest``; ``UploadRefusal/malformed(_:)``.
  init(tus head: RequestHead) throws(UploadRefusal) {
    self.init()
    content = try Self.checksums(head.fields)
    isInTrailer =
      head.framing == .chunked
      && head.fields.all(.trailer).contains { $0.listElements.contains { $0.equalsIgnoringCase("Upload-Checksum") } }
  }

  /// Parses the digests in the trailers of a request that announced them (``isInTrailer``). In tus an announced checksum must come;
  /// without it the content cannot be verified.
  package static func trailerClaims(
    _ trailers: Fields, _ protocol: UploadProtocol
  ) throws(UploadRefusal) -> [DigestClaim] {
    switch `protocol` {
    case .ietf: return claims(trailers, .contentDigest)
    case .tus:
      let claims = try checksums(trailers)
      guard !claims.isEmpty else { throw .malformed("The announced Upload-Checksum did not come.") }
      return claims
    }
  }

  /// Parses `sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`: the algorithm, a space, and the digest in Base64.
  private static func checksums(_ fields: Fields) throws(UploadRefusal) -> [DigestClaim] {
    guard let value = try fields.single(.uploadChecksum, "Upload-Checksum comes more than once.") else { return [] }
    let parts = value.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw .malformed("Upload-Checksum is not an algorithm, a space and a digest in Base64.")
    }
    guard let algorithm = algorithm(parts[0]) else { throw .unknownDigest }
    guard let digest = Base64.decode(parts[1]), digest.count == algorithm.length else {
      throw .malformed("Upload-Checksum has no digest of its algorithm in Base64.")
    }
    return [DigestClaim(algorithm, digest)]
  }

  /// Returns the algorithm with this name in ``TusDialect/checksumAlgorithms``.
  private static func algorithm(_ name: Bytes) -> DigestAlgorithm? {
    if name.equals("sha1") { return .sha1 }
    if name.equals("md5") { return .md5 }
    if name.equals("crc32") { return .crc32 }
    return name.equals("sha256") ? .sha256 : nil
  }
}

extension Fields {
  /// Returns the value of a field that may have at most one line. Spaces and tabs at both ends of the value are removed. `nil`:
  /// the field is missing.
  /// - Throws: ``UploadRefusal/malformed(_:)`` with the sentence if there are several lines.
  func single(_ name: FieldName, _ sentence: StaticSentence) throws(UploadRefusal) -> Bytes? {
    guard count(of: name) <= 1 else { throw .malformed(sentence) }
    return first(name)?.trimmed
  }
}
