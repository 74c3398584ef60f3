import CLinux
import PawlLoop
import PawlStore
import PawlUpload

/// Holds the whole upload against the `Repr-Digest` it was announced with (RFC 9530 §3), before an origin sees it.
enum RepresentationCheck {
  enum Verdict: Hashable, Sendable { case same, different, failed }

  /// Reads the bytes once, on a thread of the pool. `then` runs on the loop; at once where nothing was claimed.
  /// - Parameter claims: of the request that completes the upload; the creation's are looked up.
  static func run(
    _ upload: SpooledUpload, claims: [DigestClaim], on loop: ServerLoop, then: @escaping (Verdict) -> Void
  ) {
    let creation = RequestDigests.claims(upload.origin.head.fields, .reprDigest)
    let claims = claims + creation.filter { !claims.contains($0) }
    guard !claims.isEmpty else { return then(.same) }
    upload.openBody(on: loop.loop) { result in
      guard case .success(let body) = result else { return then(.failed) }
      loop.pool.run({ judge(body, claims) }, then: loop.loop, then)
    }
  }

  /// Blocking.
  static func judge(_ body: UploadBody, _ claims: [DigestClaim]) -> Verdict {
    let hashes = Set(claims.map(\.algorithm)).map(ContentHash.init)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: UInt64 = 0
    while offset < body.count {
      let wanted = Int(min(UInt64(buffer.count), body.count - offset))
      let count = buffer.withUnsafeMutableBytes { pread(body.fd, $0.baseAddress, wanted, off_t(offset)) }
      if count < 0, pawl_errno() == EINTR { continue }
      guard count > 0 else { return .failed }
      buffer.withUnsafeBytes { octets in
        for hash in hashes { hash.update(UnsafeRawBufferPointer(rebasing: octets[..<count])) }
      }
      offset += UInt64(count)
    }
    let digests = hashes.reduce(into: [:]) { $0[$1.algorithm] = $1.finish() }
    return claims.allSatisfy { digests[$0.algorithm] == $0.value } ? .same : .different
  }
}
