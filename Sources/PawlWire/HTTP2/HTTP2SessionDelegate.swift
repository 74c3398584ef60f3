package import PawlHTTP

/// A stream of an HTTP/2 connection; odd, given by the client.
package typealias HTTP2StreamID = Int32

/// Error codes of RFC 9113 §7 that pawl sends or asks about.
package enum HTTP2ErrorCode: UInt32, Hashable, Sendable {
  case noError = 0, protocolError, internalError, flowControlError, settingsTimeout, streamClosed, frameSizeError
  case refusedStream, cancel, compressionError, connectError, enhanceYourCalm, inadequateSecurity, http11Required
}

/// What of an answer's content can go now.
package enum HTTP2Offer: Sendable {
  /// So many bytes, at least one, at most as many as asked for. `isLast`: no more follow, and no trailers.
  case bytes(Int, isLast: Bool)
  /// Nothing yet: ``HTTP2Session/resume(_:)`` will be called.
  case later
  /// All has gone; the trailers may be empty.
  case end(Fields)
  /// It cannot be finished: RST_STREAM.
  case failed(HTTP2ErrorCode)
}

/// Who is told what came over an HTTP/2 connection. All calls come from within ``HTTP2Session/receive(_:at:)`` or
/// ``HTTP2Session/produce(into:atMost:)``; methods of the session may be called from within.
///
/// What a client sent is told when all bytes of one ``HTTP2Session/receive(_:at:)`` have been read: a request whose stream
/// was reset meanwhile is never told, unless the delegate wants what it brought. After ``HTTP2Session/Progress/ends(_:)`` no call comes any more, not even for
/// streams that are still open.
package protocol HTTP2SessionDelegate: AnyObject {
  /// A request whose head is sound.
  func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID)
  /// A request for a representation as it is: the answer, when it is there as a whole, its further fields in `values`. Then
  /// nothing else is told of the request, but, where the answer is watched, `answered` and `closedReady`; else it is told
  /// as any other. No method of the session may be called from within.
  func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on stream: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer?
  /// What `closed` is for other streams; `sent` bytes of the answer's body are in the output or were.
  func session(_ session: HTTP2Session, closedReady stream: HTTP2StreamID, by code: UInt32?, sent: Int)
  /// Whether content that came with a request counts although the client has reset the stream within the same bytes: then
  /// request, content and end are told nevertheless.
  func session(_ session: HTTP2Session, keepsContentOf request: HTTP2Request) -> Bool
  /// HTTP/2 was kept to, but the request is not acceptable: to be answered with the refusal's status. Its content, if any, is
  /// dropped by the session.
  func session(_ session: HTTP2Session, refused refusal: RequestRefusal, on stream: HTTP2StreamID)
  /// Content of a request, valid during the call. Its credit comes back with ``HTTP2Session/consumed(_:of:)``.
  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID)
  /// The request is complete.
  func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields)
  /// The end of the answer is in the output of the ``HTTP2Session/produce(into:atMost:)`` that is about to return. Comes before
  /// `closed`. Where the request goes on, this is the place for a ``HTTP2Session/reset(_:_:)`` with `noError`: earlier it
  /// would overtake the content.
  func session(_ session: HTTP2Session, answered stream: HTTP2StreamID)
  /// The stream is gone; told for every stream that was told of. `code`: reset, by the peer, by a breach of the protocol
  /// or by ``HTTP2Session/reset(_:_:)``; `nil`: both sides have ended.
  func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?)
  /// How much of the answer's content can go in one frame of at most `limit` bytes. Neither bytes nor output may be moved
  /// from within: no call of `receive` or `produce`.
  func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer
  /// Appends exactly the bytes that were offered. `false` when they cannot be had any more: the stream is reset.
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
