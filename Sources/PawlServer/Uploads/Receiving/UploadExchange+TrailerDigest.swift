import PawlHTTP
import PawlLoop
import PawlUpload

/// Verifies a digest in the trailers that no `Trailer` field announced (RFC 9530 §2).
///
/// No digest was computed while the content came. And the content counts already, because the client may have been told an offset
/// within it. So the content is read again, in the pool, before the response is sent or the upload is complete.
extension UploadExchange {
  /// The digests that the trailers claim for content that was not checked while it came. In tus only announced checksums count.
  func lateClaims(_ trailers: Fields) -> [DigestClaim] {
    check == nil && dialect != .tus ? RequestDigests.claims(trailers, .contentDigest) : []
  }

  func verify(_ claims: [DigestClaim], then: @escaping () -> Void) {
    guard let upload, let writer else { return refuse(.storage) }
    // Until the result is known, reaching the length must not complete the upload.
    writer.expectNoEnd()
    let content = contentStart..<max(contentStart, writer.offset)
    upload.openBody(on: loop.loop) { [self] result in
      guard case .success(let body) = result else { return unverified() }
      let isQueued = loop.shared.longWorkers.run({ DeliveryCheck.make(body, claims, of: content) }, then: loop.loop) {
        [self] in
        switch $0 {
        case .good: if state.isStoring { then() }
        case .mismatch: mismatched()
        case .unreadable: unverified()
        }
      }
      if !isQueued { unverified() }
    }
  }

  private func unverified() {
    if state.isStoring { afterStoring { [self] in refuse(.storage) } }
  }

  /// Makes the upload invalid. The offset cannot go back, since the client may have been told this offset. And no request may
  /// append to wrong bytes, not even a request that took the upload over meanwhile.
  private func mismatched() {
    dropWriter()
    upload?.invalidate(why: "digest-mismatch", on: loop.loop) { [self] _ in refuse(.digestMismatch) }
  }
}
