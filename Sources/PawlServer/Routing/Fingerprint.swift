import CXXHash

/// Computes a 64-bit hash of a text (XXH3), the same in every process.
enum Fingerprint {
  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { XXH3_64bits($0.baseAddress, $0.count) }
  }
}
