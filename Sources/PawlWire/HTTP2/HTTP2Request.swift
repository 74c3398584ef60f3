package import PawlHTTP

/// A request over HTTP/2 in the form that an exchange takes: pseudo-header fields are in the head (RFC 9113 §8.3), the parts of
/// `Cookie` are joined (§8.2.3), and `Host` agrees with `:authority`.
package struct HTTP2Request: Sendable {
  /// `version` is `.http2`. `framing` is `.none` when no content can follow, `.length` when a length was announced, and else
  /// `.chunked`: the content ends with the stream.
  package var head: RequestHead
  /// `:protocol` of an extended CONNECT (RFC 8441), such as `websocket`; `nil` otherwise.
  package var `protocol`: Bytes?

  package init(head: RequestHead, protocol: Bytes? = nil) { (self.head, self.protocol) = (head, `protocol`) }
}
