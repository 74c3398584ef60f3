import PawlHTTP
import PawlLoop
import PawlTLS
import PawlUpload
import PawlUploadStore

/// The names of an upload: its URL contains a secret token; files, catalogue and logs use the ID computed from the token.
enum UploadNames {
  /// Returns a new random token.
  static func makeToken() -> UploadToken { UploadToken(random: Randomness.bytes(24)) }

  /// Returns the token that belongs to `secret`, always the same one, for uploads that must not be created twice from the same
  /// parts.
  static func token(from secret: [UInt8]) -> UploadToken { UploadToken(random: Array(SHA256.digest(secret)[..<24])) }

  /// Returns the ID of a token: the first 16 bytes of SHA-256 over its text.
  static func id(_ token: UploadToken) -> UploadID {
    let digest = SHA256.digest(Array(token.text.utf8))
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return UploadID(high: word(digest[..<8]), low: word(digest[8..<16]))
  }
}
