import COpenSSL

/// SHA-256 (FIPS 180-4) of bytes that are in memory.
package enum SHA256 {
  /// Returns the digest, 32 bytes.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let isDone = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) == 1
    precondition(isDone && count == 32, "SHA-256 without its 32 bytes")
    return digest
  }
}
