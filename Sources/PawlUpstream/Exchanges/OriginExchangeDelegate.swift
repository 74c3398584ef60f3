package import PawlHTTP
package import PawlLoop

/// Hears what comes of an exchange, on its loop and never from within ``OriginPool/start(_:delegate:)``.
///
/// Exactly one of `ended`, `broke` and `upgraded` comes last, unless the exchange is cancelled: then nothing does.
/// Every method may cancel or pause the exchange and start others. The exchange keeps its delegate until then.
package protocol OriginExchangeDelegate: AnyObject {
  /// The head is on its way. Content may be sent from now on; what was sent before has been held back.
  func exchangeConnected(_ exchange: OriginExchange)
  /// A 1xx other than 101 (RFC 9110 §15.2).
  func exchange(_ exchange: OriginExchange, interim head: ResponseHead)
  /// The final head. `framing` is `.none` for HEAD, 204 and 304.
  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming)
  /// Content without its framing; valid during the call.
  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer)
  /// What was received together has been handed over, and the exchange has not ended with it: what was put off until more
  /// came (see ``OriginExchange/isDelivering``) is due now.
  func exchangeDelivered(_ exchange: OriginExchange)
  /// The response is complete, and the rest of the request still has to be sent (``OriginRequest/outlivesAnswer``):
  /// `ended` follows when it is, and `broke` where it cannot be.
  func exchangeAnswered(_ exchange: OriginExchange)
  /// The response is complete (RFC 9112 §8).
  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields)
  /// The response will never be complete.
  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure)
  /// A 101 to a request that asked for it: the stream is the delegate's, `leftover` came behind the head.
  /// The stream keeps its place in `max-connections` until the exchange is cancelled or let go.
  func exchange(_ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8])
  /// After `sendBody` or `sendFile` returned `false`: go on.
  func exchangeWantsBody(_ exchange: OriginExchange)
}

extension OriginExchangeDelegate {
  package func exchangeConnected(_ exchange: OriginExchange) {}
  package func exchange(_ exchange: OriginExchange, interim head: ResponseHead) {}
  package func exchangeWantsBody(_ exchange: OriginExchange) {}
  package func exchangeDelivered(_ exchange: OriginExchange) {}
  package func exchangeAnswered(_ exchange: OriginExchange) {}

  /// For delegates that never ask for an upgrade.
  package func exchange(
    _ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8]
  ) {
    stream.close()
    exchange.cancel()
  }
}
