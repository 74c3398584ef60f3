import COpenSSL

/// SHA-256 (FIPS 180-4) of octets that are in memory.
package enum SHA256 {
  /// 32 octets.
  package static func digest(_ octets: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let isDone = EVP_Digest(octets, octets.count, &digest, &count, EVP_sha256(), nil) == 1
    precondition(isDone && count == 32, "SHA-256 without its 32 octets")
    return digest
  }
}
