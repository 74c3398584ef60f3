import PawlCache
import PawlHTTP
import PawlUpstream
import PawlWire

/// The result of comparing content that came again with the held content.
enum Comparison {
  case equal, different
  /// The sink has copied the bytes, and calls ``OriginFetch/compared(equal:)`` when it has the result.
  case later
}

/// Why a fetch ended without its content.
enum FetchFailure: Error, Equatable {
  /// The content at the origin is no longer what was delivered.
  case changed(String)
  /// The response continues the content, but may not be given to all clients that have its beginning.
  case narrower(String)
  /// The rest could not be fetched within `resume-attempts` or `replay-limit`, cannot be resumed, or is not needed any more.
  case gaveUp(String)

  var end: BodyEnd {
    switch self {
    case .changed(let why): BodyEnd(party: .origin, reason: "changed: \(why)")
    case .narrower(let why): BodyEnd(party: .origin, reason: "narrower: \(why)")
    case .gaveUp(let why): BodyEnd(party: .origin, reason: why)
    }
  }
}

/// Receives the first response to an ``OriginFetch``, and decides what becomes of it.
protocol FetchHeadSink: AnyObject {
  func fetch(_ fetch: OriginFetch, interim head: ResponseHead)
  /// Receives the head of the first final response. The sink hands the fetch on to a ``FetchBodySink`` and calls
  /// ``OriginFetch/accept(_:from:through:)``, at once or later; or it cancels the fetch. Nothing more is read before that.
  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming)
  /// Receives the failure, if no usable response ever began.
  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure)
}

/// Receives the content that an ``OriginFetch`` brings.
protocol FetchBodySink: AnyObject {
  /// Decides whether a response may continue the content. Its head has already shown that its bytes belong there; the sink checks which
  /// clients may have them.
  /// - Returns: the reason why the response may not be used; `nil`: it may be used.
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String?
  /// Called when the origin has proven that its bytes continue the held bytes, after a break or at the start of a span.
  func fetchContinues(_ fetch: OriginFetch)
  /// Called when all bytes that came together were delivered, and the fetch has not ended with them (see ``OriginFetch/isDelivering``).
  func fetchDelivered(_ fetch: OriginFetch)
  /// Receives new content, in order.
  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow
  /// Receives content that has come once before, and compares it with the held content.
  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison
  /// Called when the span, or the complete content, has come; `end` is the offset after its last byte.
  func fetchEnded(_ fetch: OriginFetch, at end: UInt64)
  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure)
  /// Returns the number of bytes that are held without a hole from offset 0 on, no matter which fetch brought them.
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64
  /// Returns whether bytes are held behind those that this fetch has brought, so that its content is joined to them.
  func fetchJoinsLater(_ fetch: OriginFetch) -> Bool
  /// Returns whether the rest is still needed; called when the origin broke off.
  func fetchIsWanted(_ fetch: OriginFetch) -> Bool
}

/// Defaults for a sink that accepts every response which continues its content, and holds nothing of the content.
extension FetchBodySink {
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64 { 0 }
  func fetchJoinsLater(_ fetch: OriginFetch) -> Bool { false }
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String? { nil }
  func fetchContinues(_ fetch: OriginFetch) {}
  func fetchDelivered(_ fetch: OriginFetch) {}
}
