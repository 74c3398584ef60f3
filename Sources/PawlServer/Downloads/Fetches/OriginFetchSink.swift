import PawlCache
import PawlHTTP
import PawlUpstream
import PawlWire

/// Whether content that came again equals what is held.
enum Comparison {
  case equal, different
  /// The sink has copied the bytes and calls ``OriginFetch/compared(equal:)``.
  case later
}

/// Why a fetch ended without its content.
enum FetchFailure: Error, Equatable {
  /// The content at the origin is no longer what was delivered.
  case changed(String)
  /// What came goes on with the content, and may not be given to all who have its beginning.
  case narrower(String)
  /// The rest could not be had within `resume-attempts` or `replay-limit`.
  case gaveUp(String)

  var end: BodyEnd {
    switch self {
    case .changed(let why): BodyEnd(party: .origin, reason: "changed: \(why)")
    case .narrower(let why): BodyEnd(party: .origin, reason: "narrower: \(why)")
    case .gaveUp(let why): BodyEnd(party: .origin, reason: why)
    }
  }
}

/// Takes the first answer to an ``OriginFetch``, and says what becomes of it.
protocol FetchHeadSink: AnyObject {
  func fetch(_ fetch: OriginFetch, interim head: ResponseHead)
  /// The first final head. The sink hands the fetch on to a ``FetchBodySink`` and answers with
  /// ``OriginFetch/accept(_:from:through:)``, at once or later, or cancels; until then nothing more is read.
  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming)
  /// No usable answer ever began.
  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure)
}

/// Takes the content that an ``OriginFetch`` brings.
protocol FetchBodySink: AnyObject {
  /// Whether the answer that is about to go on with the content may be used; its bytes have been proven to belong there as far as its
  /// head tells.
  /// - Returns: why not; `nil`: it may.
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String?
  /// The origin has proven, after a break or in the middle, that what comes belongs to what is held.
  func fetchContinues(_ fetch: OriginFetch)
  /// What came together has been handed over, and the fetch has not ended with it (see ``OriginFetch/isDelivering``).
  func fetchDelivered(_ fetch: OriginFetch)
  /// New content, in order.
  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow
  /// Content that had come before.
  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison
  /// The span, or the whole content, has come; `end` is the offset behind its last byte.
  func fetchEnded(_ fetch: OriginFetch, at end: UInt64)
  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure)
  /// Where the bytes end that are held from 0 on without a hole, whoever brought them.
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64
  /// Whether anybody still wants the rest, asked when the origin broke off.
  func fetchIsWanted(_ fetch: OriginFetch) -> Bool
}

/// What those need not say that accept whatever goes on with their content, and hold nothing of it.
extension FetchBodySink {
  func fetchHeldPrefix(_ fetch: OriginFetch) -> UInt64 { 0 }
  func fetch(_ fetch: OriginFetch, objectsTo head: ResponseHead) -> String? { nil }
  func fetchContinues(_ fetch: OriginFetch) {}
  func fetchDelivered(_ fetch: OriginFetch) {}
}
