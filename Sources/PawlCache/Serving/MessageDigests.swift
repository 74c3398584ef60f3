package import PawlHTTP

extension Fields {
  /// Removes the digests of the content of one message. They are valid neither for a part of that content nor for a
  /// representation of which that content is a part (RFC 9530 §2).
  package mutating func removeMessageDigests() {
    removeAll(.contentMD5)
    removeAll(.contentDigest)
  }
}
