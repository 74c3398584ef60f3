import CLinux
import PawlLoop
import PawlUpload
import PawlUploadStore

/// The result of the check of an upload's bytes before they are sent: whether they match their digest, and the last byte, which
/// is held back.
enum DeliveryCheck: Sendable {
  case good(last: UInt8?)
  /// The bytes do not match the digest.
  case mismatch(DigestAlgorithm)
  case unreadable(String)

  /// Reads the bytes and compares their digests. Blocking: call it in the pool.
  /// - Parameter part: the bytes that the claims are about; `nil`: all of them.
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

  /// Does the same as ``make(_:_:of:)`` for an upload without a digest, but does not block, so a loop can call it. `nil`: the
  /// last byte is not in the page cache.
  static func makeAtOnce(_ body: UploadBody) -> DeliveryCheck? {
    guard body.count > 0 else { return .good(last: nil) }
    var last: UInt8 = 0
    let count = withExtendedLifetime(body) { pawl_pread_nowait(body.fd, &last, 1, off_t(body.count - 1)) }
    return count == 1 ? .good(last: last) : nil
  }

  /// Reads a part of the body into the hashes. `false`: the file ends early, or cannot be read.
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
