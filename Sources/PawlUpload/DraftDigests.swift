import PawlHTTP

/// `Content-Digest` and `Repr-Digest` (RFC 9530), which the drafts name up to -11 and any client may send.
extension RequestDigests {
  init(drafts head: RequestHead) {
    self.init()
  }
}
