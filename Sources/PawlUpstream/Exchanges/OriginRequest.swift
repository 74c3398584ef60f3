package import PawlHTTP

/// A request ready to be sent to an origin.
package struct OriginRequest: Sendable {
  /// The head as it is sent: without hop-by-hop fields, with `Via` and `X-Forwarded-*`; `framing` is how the content is sent. For
  /// an upgrade its fields name the protocol (`Connection: Upgrade`, `Upgrade: …`).
  package var head: RequestHead
  package var use: OriginUse
  /// Whether a 101 is allowed as the response to this request; otherwise it is an error (Hygiene, "101 unasked").
  package var isUpgrade: Bool
  /// Whether the request is sent on a new connection, never on an idle one. Needed for requests that must not be sent twice. An
  /// origin may close an idle connection at the moment the request is sent, and pawl could not know whether the request was
  /// processed (RFC 9112 §9.3.1).
  package var wantsFreshConnection = false
  /// Decides, by the status of a final response, whether the request is still sent to its end when that response is complete
  /// before the request. The exchange then ends when the request is sent; if it cannot be sent, the exchange fails
  /// (``OriginFailure/hasWholeAnswer``). `nil`: a complete response always ends the exchange.
  package var outlivesAnswer: (@Sendable (Int) -> Bool)?
  /// Whether the whole request, even the head, is held back until ``OriginExchange/releaseHead()``, because the delegate has work
  /// to do after the connection is made and before the request is sent. For requests without content, on a new connection.
  package var holdsHead = false
  /// Index of the URL to try first, if its node works; `nil`: the rotation decides.
  package var preferredURL: Int?
  /// The client and the path that its place is counted for.
  package var holder: PlaceHolder

  package init(
    head: consuming RequestHead, use: OriginUse, isUpgrade: Bool = false, holder: PlaceHolder = .nobody
  ) {
    self.head = head
    (self.use, self.isUpgrade, self.holder) = (use, isUpgrade, holder)
  }
}
