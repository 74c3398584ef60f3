package import PawlHTTP
package import PawlLoop

/// Is called with the events of an exchange, on its loop and never from within ``OriginPool/start(_:delegate:)``.
///
/// The last call is exactly one of `ended`, `broke` and `upgraded`; after a cancellation no call follows. Every method may cancel
/// or pause the exchange and start other exchanges. The exchange retains its delegate until the last call.
package protocol OriginExchangeDelegate: AnyObject {
  /// There is a connection, and the head is being sent, unless ``OriginRequest/holdsHead`` holds it back. Content that was handed
  /// in before follows the head.
  func exchangeConnected(_ exchange: OriginExchange)
  /// A 1xx other than 101 (RFC 9110 §15.2).
  func exchange(_ exchange: OriginExchange, interim head: ResponseHead)
  /// The head of the final response. `framing` is `.none` for HEAD, 204 and 304.
  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming)
  /// Content without its framing; valid during the call.
  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer)
  /// All bytes that were received together are delivered, and the exchange has not ended. What the delegate put off because more
  /// might follow (see ``OriginExchange/isDelivering``) is due now.
  func exchangeDelivered(_ exchange: OriginExchange)
  /// The response is complete, but the rest of the request still has to be sent (``OriginRequest/outlivesAnswer``). `ended` follows
  /// when it is sent, or `broke` if it cannot be sent.
  func exchangeAnswered(_ exchange: OriginExchange)
  /// The response is complete (RFC 9112 §8).
  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields)
  /// The response will never be complete.
  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure)
  /// A 101 came to a request that asked for it: the stream is the delegate's, `leftover` are bytes that came behind the head. The
  /// stream counts in `max-live-connections` until the exchange is cancelled or deallocated.
  func exchange(_ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8])
  /// More content may be sent, after `sendBody` or `sendFile` returned `false`.
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
