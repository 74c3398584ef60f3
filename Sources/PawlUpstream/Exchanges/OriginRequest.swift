package import PawlHTTP

/// A request ready to be sent to an origin.
package struct OriginRequest: Sendable {
  /// Fields as they go out: hop-by-hop fields gone, `Via` and `X-Forwarded-*` set; `framing` says how the body goes.
  /// For an upgrade they name the protocol (`Connection: Upgrade`, `Upgrade: …`).
  package var head: RequestHead
  package var use: OriginUse
  /// Whether a 101 is an answer to this request; otherwise it is an error (protocols.md 8.2, row 66).
  package var isUpgrade: Bool
  /// The request may be sent once only: of a connection that was idle, and that an origin closes at the same moment, it
  /// would stay open whether the request was seen.
  package var wantsFreshConnection = false
  /// Of a final status: an answer with it that is complete before the request is does not end the exchange. The request is
  /// sent to its end first; where that cannot be, the exchange is broken (``OriginFailure/hasWholeAnswer``). `nil`: none.
  package var outlivesAnswer: (@Sendable (Int) -> Bool)?
  /// Nothing is sent, not even the head, before ``OriginExchange/releaseHead()``: the delegate has something to do once
  /// it hears of the connection. For requests without content, on a connection of their own.
  package var holdsHead = false
  /// Index of the URL that is asked first, where it works; `nil`: whose turn it is.
  package var preferredURL: Int?
  /// On whose account the place is that it takes.
  package var holder: PlaceHolder

  package init(
    head: consuming RequestHead, use: OriginUse, isUpgrade: Bool = false, holder: PlaceHolder = .nobody
  ) {
    self.head = head
    (self.use, self.isUpgrade, self.holder) = (use, isUpgrade, holder)
  }
}
