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
  /// So many octets, at least one, at most as many as asked for. `isLast`: no more follow, and no trailers.
  case octets(Int, isLast: Bool)
  /// Nothing yet: ``HTTP2Session/resume(_:)`` will be called.
  case later
  /// All has gone; the trailers may be empty.
  case end(Fields)
  /// It cannot be finished: RST_STREAM.
  case failed(HTTP2ErrorCode)
}

/// Who is told what came over an HTTP/2 connection. All calls come from within ``HTTP2Session/receive(_:at:)`` or
/// ``HTTP2Session/produce(into:atMost:)``; methods of the session may be called from within.
package protocol HTTP2SessionDelegate: AnyObject {
  /// A request whose head is sound.
  func session(_ session: HTTP2Session, began request: HTTP2Request, on stream: HTTP2StreamID)
  /// HTTP/2 was kept to, but the request is not acceptable: to be answered with the refusal's status. Its content, if any, is
  /// dropped by the session.
  func session(_ session: HTTP2Session, refused refusal: RequestRefusal, on stream: HTTP2StreamID)
  /// Content of a request, valid during the call. Its credit comes back with ``HTTP2Session/consumed(_:of:)``.
  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of stream: HTTP2StreamID)
  /// The request is complete.
  func session(_ session: HTTP2Session, endedContentOf stream: HTTP2StreamID, trailers: Fields)
  /// The frame that ends the answer has been produced; the request may still go on.
  func session(_ session: HTTP2Session, answered stream: HTTP2StreamID)
  /// The stream is gone. `code`: reset, by the peer or by a breach of the protocol; `nil`: both sides have ended.
  func session(_ session: HTTP2Session, closed stream: HTTP2StreamID, by code: UInt32?)
  /// How much of the answer's content can go in one frame of at most `limit` octets.
  func session(_ session: HTTP2Session, offerOf stream: HTTP2StreamID, limit: Int) -> HTTP2Offer
  /// Appends exactly the octets that were offered. `false` when they cannot be had any more: the stream is reset.
  func session(
    _ session: HTTP2Session, append count: Int, of stream: HTTP2StreamID, to output: inout [UInt8]
  ) -> Bool
}

/// The server side of one HTTP/2 connection (RFC 9113), without IO: octets in, events and octets out. Keeps to the
/// protocol, bounds what a peer may cost (``HTTP2Settings``, floods), grows the receive windows with the rate, and
/// schedules streams by `Priority` (RFC 9218), those that say nothing taking turns. Belongs to one thread.
package final class HTTP2Session {
  /// Whether the connection goes on.
  package enum Progress: Hashable, Sendable {
    case goesOn
    /// It ends: what ``produce(into:atMost:)`` still gives is to be sent, then the connection closed.
    case ends(EndReason)
  }

  /// Why a connection ended before its client closed it: the words of the log.
  package enum EndReason: String, Hashable, Sendable, CaseIterable {
    case protocolError = "protocol-error"
    case resetFlood = "reset-flood"
    case continuationFlood = "continuation-flood"
    case settingsFlood = "settings-flood"
    case pingFlood = "ping-flood"
    case emptyFrameFlood = "empty-frame-flood"
    case goAway = "go-away"
  }

  package weak var delegate: (any HTTP2SessionDelegate)?

  package init(_ settings: HTTP2Settings) {}

  /// What every HTTP/2 client sends first (RFC 9113 §3.4); the session expects it.
  package static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

  // MARK: Octets

  /// Takes all of `bytes`. `now`: of a monotonic clock, in nanoseconds.
  package func receive(_ bytes: UnsafeRawBufferPointer, at now: Int64) -> Progress { preconditionFailure("sketch") }

  /// Appends frames until `output` holds `limit` octets or more, or there is nothing to send now.
  package func produce(into output: inout [UInt8], atMost limit: Int) -> Progress { preconditionFailure("sketch") }

  /// Whether ``produce(into:atMost:)`` would give something.
  package var wantsToSend: Bool { preconditionFailure("sketch") }

  /// Streams that are not closed yet.
  package var streamCount: Int { preconditionFailure("sketch") }

  // MARK: Answers

  /// A 1xx; hop-by-hop fields are left out, names written in lower case.
  package func sendInterim(_ head: ResponseHead, on stream: HTTP2StreamID) {}

  /// The final head. `length`: announced as `content-length`. `hasContent`: the delegate is asked for it.
  package func sendHead(_ head: ResponseHead, length: UInt64?, hasContent: Bool, on stream: HTTP2StreamID) {}

  /// The delegate has content again after ``HTTP2Offer/later``.
  package func resume(_ stream: HTTP2StreamID) {}

  /// RST_STREAM; nothing follows for this stream but its `closed`.
  package func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {}

  /// So many octets of the request's content are done with: credit for as many goes back to the peer.
  package func consumed(_ count: Int, of stream: HTTP2StreamID) {}

  /// Whether the peer's windows, and not the order of the streams, keep this stream's content.
  package func isHeldBack(_ stream: HTTP2StreamID) -> Bool { preconditionFailure("sketch") }

  // MARK: Ending

  /// GOAWAY that lets running streams end and refuses new ones (RFC 9113 §6.8).
  package func drain() {}

  /// GOAWAY at once; the connection ends with what has been produced.
  package func end(_ code: HTTP2ErrorCode) {}
}
