package import PawlHTTP

/// A request that came over HTTP/2, as an exchange takes it: pseudo-fields turned into the head (RFC 9113 §8.3), crumbs of
/// `Cookie` joined (§8.2.3), `Host` beside `:authority` agreed.
package struct HTTP2Request: Sendable {
  /// `version` is `.http2`. `framing` is `.none` when no content can follow, `.length` when it was announced, else
  /// `.chunked`: the end of the stream is its end.
  package var head: RequestHead
  /// `:protocol` of an extended CONNECT (RFC 8441), such as `websocket`; `nil` otherwise.
  package var `protocol`: Bytes?

  package init(head: RequestHead, protocol: Bytes? = nil) { (self.head, self.protocol) = (head, `protocol`) }
}
