import CLinux
import PawlLoop
import PawlUpload
import PawlUploadStore

/// What is looked at in an upload's bytes before they go: whether they are what their digest says, and the last of
/// them, which is held back.
enum DeliveryCheck: Sendable {
  case good(last: UInt8?)
  /// Not the bytes that were announced.
  case mismatch(DigestAlgorithm)
  case unreadable(String)

  /// Blocking: in the pool.
  /// - Parameter part: what the claims are of; `nil`: the whole.
  static func make(_ body: UploadBody, _ claims: [DigestClaim], of part: Range<UInt64>? = nil) -> DeliveryCheck {
    let hashes = claims.map { ContentHash($0.algorithm) }
    if !hashes.isEmpty, !read(part ?? 0..<body.count, of: body, into: hashes) {
      return .unreadable("the stored bytes cannot be read")
    }
    for (claim, hash) in zip(claims, hashes) where hash.isPossible && hash.finish() != claim.value {
      return .mismatch(claim.algorithm)
    }
    guard part == nil, body.count > 0 else { return .good(last: nil) }
    var last: UInt8 = 0
    guard pread(body.fd, &last, 1, off_t(body.count - 1)) == 1 else {
      return .unreadable("the stored bytes end early")
    }
    return .good(last: last)
  }

  /// As ``make(_:_:)`` where nothing was announced and the last byte is in memory, as a rule; else `nil`. On a loop.
  static func makeAtOnce(_ body: UploadBody) -> DeliveryCheck? {
    guard body.count > 0 else { return .good(last: nil) }
    var last: UInt8 = 0
    let count = withExtendedLifetime(body) { pawl_pread_nowait(body.fd, &last, 1, off_t(body.count - 1)) }
    return count == 1 ? .good(last: last) : nil
  }

  /// `false`: the file ends early, or cannot be read.
  private static func read(_ part: Range<UInt64>, of body: UploadBody, into hashes: [ContentHash]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var at = part.lowerBound
    while at < part.upperBound {
      let count = pread(body.fd, &buffer, Int(min(UInt64(buffer.count), part.upperBound - at)), off_t(at))
      guard count > 0 else { return false }
      buffer.withUnsafeBytes { bytes in
        for hash in hashes { hash.update(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
      }
      at += UInt64(count)
    }
    return true
  }
}
