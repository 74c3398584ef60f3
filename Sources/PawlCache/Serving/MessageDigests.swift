package import PawlHTTP

extension Fields {
  /// Takes out what holds for the content of one message, and for no part of it and no whole that it is a part of (RFC 9530 §2).
  package mutating func removeMessageDigests() {
    removeAll(.contentMD5)
    removeAll(.contentDigest)
  }
}
