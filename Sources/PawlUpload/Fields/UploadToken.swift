import PawlBase
package import PawlHTTP

/// The secret part of an upload's URL: 24 random bytes as 32 characters of base64url. pawl stores only a hash of it (the upload's
/// id).
package struct UploadToken: Hashable, Sendable {
  package let text: String
  /// The number of characters of every token.
  package static let count = 32

  /// - Parameter bytes: 24 random bytes.
  package init(random bytes: [UInt8]) {
    precondition(bytes.count == 24, "a token is made of 24 bytes")
    text = String(decoding: Base64.encodeForURL(bytes), as: UTF8.self)
  }

  /// Parses a token from a URL; `nil`: the text does not have the form of a token.
  package init?(_ text: Bytes) {
    guard text.count == Self.count, text.allSatisfy(Base64.isForURL) else { return nil }
    self.text = text.text
  }
}
