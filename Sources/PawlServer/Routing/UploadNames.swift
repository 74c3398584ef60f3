import PawlHTTP
import PawlLoop
import PawlTLS
import PawlUpload
import PawlUploadStore

/// What an upload is called: its URL carries a secret token, everything else (files, catalogue, logs) the ID made of it.
enum UploadNames {
  /// A token that nobody has had before.
  static func makeToken() -> UploadToken { UploadToken(random: Randomness.bytes(24)) }

  /// The token that `secret` always gives: for uploads that must not be made twice from the same parts.
  static func token(from secret: [UInt8]) -> UploadToken { UploadToken(random: Array(SHA256.digest(secret)[..<24])) }

  /// The first 16 bytes of SHA-256 over the token's text.
  static func id(_ token: UploadToken) -> UploadID {
    let digest = SHA256.digest(Array(token.text.utf8))
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return UploadID(high: word(digest[..<8]), low: word(digest[8..<16]))
  }
}
