package import PawlHTTP
package import PawlLoop

/// A receiver of the events of an exchange. It is called on the loop of the exchange, and never from within
/// ``OriginPool/start(_:delegate:)``.
///
/// The last call is exactly one of `ended`, `broke` and `upgraded`; after a cancellation no call follows. Every method may cancel
/// or pause the exchange and start other exchanges. The exchange retains its delegate until the last call.
package protocol OriginExchangeDelegate: AnyObject {
  /// Called when there is a connection. The head is being sent, unless ``OriginRequest/holdsHead`` holds it back. Content that was
  /// handed in earlier follows the head.
  func exchangeConnected(_ exchange: OriginExchange)
  /// Called with a 1xx other than 101 (RFC 9110 §15.2).
  func exchange(_ exchange: OriginExchange, interim head: ResponseHead)
  /// Called with the head of the final response. `framing` is `.none` for HEAD, 204 and 304.
  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming)
  /// Called with content, without its framing; the bytes are valid during the call.
  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer)
  /// Called when all bytes that were received together are delivered, and the exchange has not ended. If the delegate has put off
  /// work because more calls might follow (``OriginExchange/isDelivering``), it has to do that work now.
  func exchangeDelivered(_ exchange: OriginExchange)
  /// Called when the response is complete, but the rest of the request still has to be sent (``OriginRequest/outlivesAnswer``).
  /// `ended` follows when the rest is sent, or `broke` if it cannot be sent.
  func exchangeAnswered(_ exchange: OriginExchange)
  /// Called when the response is complete (RFC 9112 §8).
  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields)
  /// Called when the response will never be complete.
  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure)
  /// Called when a 101 came to a request that asked for an upgrade. The stream now belongs to the delegate; `leftover` has the
  /// bytes that came after the head. The stream counts in `max-live-connections` until the exchange is cancelled or deallocated.
  func exchange(_ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8])
  /// Called when more content may be sent, after `sendBody` or `sendFile` returned `false`.
  func exchangeWantsBody(_ exchange: OriginExchange)
}

extension OriginExchangeDelegate {
  package func exchangeConnected(_ exchange: OriginExchange) {}
  package func exchange(_ exchange: OriginExchange, interim head: ResponseHead) {}
  package func exchangeWantsBody(_ exchange: OriginExchange) {}
  package func exchangeDelivered(_ exchange: OriginExchange) {}
  package func exchangeAnswered(_ exchange: OriginExchange) {}

  /// Closes the stream. This default is for delegates that never ask for an upgrade.
  package func exchange(
    _ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8]
  ) {
    stream.close()
    exchange.cancel()
  }
}
