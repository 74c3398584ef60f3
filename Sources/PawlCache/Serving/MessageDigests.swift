package import PawlHTTP

extension Fields {
  /// Removes the digests of the content of one message. They do not hold for a part of it, nor for a whole that it is a part of
  /// (RFC 9530 §2).
  package mutating func removeMessageDigests() {
    removeAll(.contentMD5)
    removeAll(.contentDigest)
  }
}
