import CLinux
import COpenSSL
import PawlLoop
import PawlStore
import PawlUpload

/// What is looked at in an upload's bytes before they go: whether they are what their digest says, and the last of
/// them, which is held back.
enum UploadCheck: Sendable {
  case good(last: UInt8?)
  /// Not the bytes that were announced.
  case mismatch(DigestAlgorithm)
  case unreadable(String)

  /// Blocking: in the pool.
  static func make(_ body: UploadBody, _ claims: [DigestClaim]) -> UploadCheck {
    for claim in claims {
      guard let algorithm = evp(claim.algorithm) else { continue }
      guard let digest = digest(body, algorithm) else { return .unreadable("the stored bytes cannot be read") }
      if digest != claim.value { return .mismatch(claim.algorithm) }
    }
    guard body.count > 0 else { return .good(last: nil) }
    var last: UInt8 = 0
    guard pread(body.fd, &last, 1, off_t(body.count - 1)) == 1 else {
      return .unreadable("the stored bytes end early")
    }
    return .good(last: last)
  }

  /// `nil`: one that `Repr-Digest` does not have.
  private static func evp(_ algorithm: DigestAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha256: EVP_sha256()
    case .sha512: EVP_sha512()
    case .sha1: EVP_sha1()
    case .md5: EVP_md5()
    case .crc32: nil
    }
  }

  private static func digest(_ body: UploadBody, _ algorithm: OpaquePointer) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestInit_ex(context, algorithm, nil) == 1 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var at: UInt64 = 0
    while at < body.count {
      let count = pread(body.fd, &buffer, Int(min(UInt64(buffer.count), body.count - at)), off_t(at))
      guard count > 0, EVP_DigestUpdate(context, buffer, count) == 1 else { return nil }
      at += UInt64(count)
    }
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    guard EVP_DigestFinal_ex(context, &digest, &length) == 1 else { return nil }
    return Array(digest[..<Int(length)])
  }
}
