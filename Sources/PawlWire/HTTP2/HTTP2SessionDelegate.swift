package import PawlHTTP

/// The identifier of a stream; odd, chosen by the client.
package typealias HTTP2StreamID = Int32

/// The error codes of RFC 9113 §7.
package enum HTTP2ErrorCode: UInt32, Hashable, Sendable {
  case noError = 0, protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
  case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity, http11Required
}

/// The content of a response that can be sent now.
package enum HTTP2Offer: Sendable {
  /// This many bytes: at least one, at most `limit`. `isLast`: neither bytes nor trailers follow.
  case bytes(Int, isLast: Bool)
  /// Nothing now: the delegate will call ``HTTP2Session/resume(_:)``.
  case later
  /// All content was sent; the trailers may be empty.
  case end(Fields)
  /// The response cannot be finished; RST_STREAM is sent with this code.
  case failed(HTTP2ErrorCode)
}

/// Receives the events of an HTTP/2 connection. All calls come from within ``HTTP2Session/receive(_:at:)`` or
/// ``HTTP2Session/produce(into:atMost:)``; methods of the session may be called from within.
package protocol HTTP2SessionDelegate: AnyObject {
  /// A request with a valid head.
  func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID)
  /// A plain request. Returns its response when the body is in memory, with the remaining fields in `values`. If so, the request
  /// causes no further calls, except `answered` and `closedReady`. `nil`: the request is delivered by `began` as usual. No method
  /// of the session may be called from within.
  func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on stream: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer?
  /// The end of a stream with a ready response, instead of `closed`; `sent`: bytes of the body that were written into the output.
  func session(_ session: HTTP2Session, closedReady stream: HTTP2StreamID, by code: UInt32?, sent: Int)
  /// Whether the content of a request counts although the client reset the stream within the same bytes. If so, the request, its
  /// content and its end are delivered nevertheless.
  func session(_ session: HTTP2Session, keepsContentOf request: HTTP2Request) -> Bool
  /// A request that is valid HTTP/2, but not acceptable: the delegate responds with the status of the refusal. The session drops
  /// the content.
  /// - Parameter head: what was read of it, for the log.
  func session(
    _ session: HTTP2Session, refused refusal: RequestRefusal, _ head: RefusedHead, on stream: HTTP2StreamID)
  /// Content of a request, valid during the call. ``HTTP2Session/consumed(_:of:)`` gives its credit back.
  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID)
  /// The request is complete.
  func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields)
  /// The end of the response is in the output of the current ``HTTP2Session/produce(into:atMost:)``. Comes before `closed`. If
  /// the request still goes on, the delegate calls ``HTTP2Session/reset(_:_:)`` with `noError` here. An earlier reset would
  /// overtake the content.
  func session(_ session: HTTP2Session, answered stream: HTTP2StreamID)
  /// The stream is gone; called for every stream that was delivered. `code`: the code of the reset by the client, by a protocol
  /// error or by ``HTTP2Session/reset(_:_:)``; `nil`: both sides ended regularly.
  func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?)
  /// How much content of the response can be sent in one frame of at most `limit` bytes. `receive` and `produce` must not be
  /// called from within.
  func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer
  /// Appends exactly the offered bytes. `false` when they are no longer available: the stream is reset.
  func session(
    _ session: HTTP2Session, append count: Int, of stream: HTTP2StreamID, to output: inout [UInt8]
  ) -> Bool
}

extension HTTP2SessionDelegate {
  package func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on stream: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer? { nil }
  package func session(_ session: HTTP2Session, closedReady stream: HTTP2StreamID, by code: UInt32?, sent: Int) {}
  package func session(_ session: HTTP2Session, keepsContentOf request: HTTP2Request) -> Bool { false }
  package func session(_ session: HTTP2Session, answered stream: HTTP2StreamID) {}
}
