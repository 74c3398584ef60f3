import COpenSSL
import PawlBase

/// The SHA-256 of the bytes that the demonstration sends and receives.
final class DemoDigest {
  private let digest: OpaquePointer?

  init() {
    digest = EVP_MD_CTX_new()
    EVP_DigestInit_ex(digest, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(digest) }

  func add(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { _ = EVP_DigestUpdate(digest, $0.baseAddress, $0.count) }
  }

  /// Returns the digest in hexadecimal digits. Call it once.
  func finish() -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    EVP_DigestFinal_ex(digest, &bytes, &length)
    return String(decoding: bytes.hexadecimal, as: UTF8.self)
  }

  /// Returns the digest of the first `size` bytes of ``LegacyOrigin/content(_:)``.
  static func ofContent(_ size: UInt64) -> String {
    let digest = DemoDigest()
    for start in stride(from: UInt64(0), to: size, by: 1 << 20) {
      digest.add(LegacyOrigin.content(start..<min(size, start + 1 << 20))[...])
    }
    return digest.finish()
  }
}
