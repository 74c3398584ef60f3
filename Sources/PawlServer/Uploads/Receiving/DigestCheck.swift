import PawlHTTP
import PawlUpload

/// Checks one request's content against the digests that came with it (RFC 9530; tus 1.0.0, checksum).
final class DigestCheck {
  private let dialect: UploadProtocol
  private let claims: [DigestClaim]
  private let isInTrailer: Bool
  private let hashes: [ContentHash]

  /// Returns `nil` if the request has no digest. Then its content counts as soon as it comes.
  init?(_ digests: RequestDigests, _ dialect: UploadProtocol) {
    guard digests.isInTrailer || !digests.content.isEmpty else { return nil }
    (self.dialect, claims, isInTrailer) = (dialect, digests.content, digests.isInTrailer)
    // The algorithm of a digest in the trailers is not known yet, so all algorithms that the protocol allows are computed.
    let announced = digests.isInTrailer ? Self.possible(dialect) : []
    hashes = Set(digests.content.map(\.algorithm) + announced).map(ContentHash.init)
  }

  private static func possible(_ dialect: UploadProtocol) -> [DigestAlgorithm] {
    dialect == .tus ? [.sha1, .md5, .crc32, .sha256] : [.sha256, .sha512]
  }

  func update(_ bytes: UnsafeRawBufferPointer) { for hash in hashes { hash.update(bytes) } }

  /// Returns the refusal, or `nil` when all digests match. Called after the last byte.
  func verdict(_ trailers: Fields) -> UploadRefusal? {
    var claims = claims
    do throws(UploadRefusal) {
      if isInTrailer { claims += try RequestDigests.trailerClaims(trailers, dialect) }
    } catch { return error }
    guard !claims.isEmpty else { return .malformed("The digest that was announced for the trailer did not come.") }
    let isPossible = hashes.allSatisfy { hash in hash.isPossible || !claims.contains { $0.algorithm == hash.algorithm }
    }
    guard isPossible else { return .unknownDigest }
    let digests = hashes.reduce(into: [:]) { $0[$1.algorithm] = $1.finish() }
    return claims.allSatisfy { digests[$0.algorithm] == $0.value } ? nil : .digestMismatch
  }
}
