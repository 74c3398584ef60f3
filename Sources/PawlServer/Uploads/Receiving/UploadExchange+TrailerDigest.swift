import PawlHTTP
import PawlLoop
import PawlUpload

/// A digest in the trailers that no `Trailer` field announced (RFC 9530 §2). Nothing was computed while the content came,
/// and the content counts, since its offsets may have been told: it is read once more, off the loop, before anything is
/// said or complete.
extension UploadExchange {
  /// What the trailers claim of content that was not checked as it came. tus has announced checksums only.
  func lateClaims(_ trailers: Fields) -> [DigestClaim] {
    check == nil && dialect != .tus ? RequestDigests.claims(trailers, .contentDigest) : []
  }

  func verify(_ claims: [DigestClaim], then: @escaping () -> Void) {
    guard let upload, let writer else { return refuse(.storage) }
    // Not by its length, before this is known.
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

  /// No offset goes back that may have been told, and nobody is to go on behind wrong bytes: not even who took the upload
  /// over meanwhile.
  private func mismatched() {
    dropWriter()
    upload?.invalidate(why: "digest-mismatch", on: loop.loop) { [self] _ in refuse(.digestMismatch) }
  }
}
