import PawlCache
import PawlHTTP
import PawlWire

/// An answer that pawl does not keep, on its way to one client: bounded memory, an ``AnswerBuffer`` for a slow reader, and enough of a
/// memory of what was delivered (a running hash and the last 4 KiB) to go on after the origin broke off.
final class StreamRelay: FetchBodySink, BodySource, AnswerBufferHolder {
  private let fetch: OriginFetch
  private let buffer: AnswerBuffer
  private var delivered: DeliveredMemory?
  private var end: BodyPiece?
  private var toSkip: UInt64
  private let canResume: Bool
  let isLive: Bool
  /// Holds this, and lets go of it at the end, as this does of it.
  var consumer: (any BodyConsumer)?

  /// - Parameters:
  ///   - skipping: so many bytes at the front are not the client's.
  ///   - canResume: whether it may go on after a break; then what was delivered is remembered.
  init(_ fetch: OriginFetch, skipping: UInt64 = 0, canResume: Bool = true) {
    (self.fetch, toSkip, self.canResume, isLive) = (fetch, skipping, canResume, fetch.isLive)
    buffer = AnswerBuffer(for: fetch.request)
    buffer.holder = self
    fetch.hand(to: .body(self))
  }

  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow {
    // What comes whole at once is never asked for again.
    if canResume, delivered == nil, fetch.total != UInt64(bytes.count) { delivered = DeliveredMemory(from: offset) }
    delivered?.note(bytes)
    var skipped = 0
    if toSkip > 0 {
      skipped = Int(min(toSkip, UInt64(bytes.count)))
      toSkip -= UInt64(skipped)
    }
    let flow = buffer.append(UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
    guard !fetch.isDelivering || buffer.count >= AnswerBuffer.lowWater else { return flow }
    consumer?.bodyIsReady()
    return buffer.isPaused ? .pause : .goOn
  }

  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison {
    delivered?.agrees(bytes, at: offset) == true ? .equal : .different
  }

  func fetchDelivered(_ fetch: OriginFetch) { consumer?.bodyIsReady() }

  func fetchEnded(_ fetch: OriginFetch, at end: UInt64) {
    tellLast(.end)
  }

  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure) {
    tellLast(.failed(failure.end))
  }

  private func tellLast(_ end: BodyPiece) {
    self.end = end
    let last = consumer
    // What waits in a file may have to be read first.
    if !buffer.hasOverflow { consumer = nil }
    last?.bodyIsReady()
  }

  func fetchIsWanted(_ fetch: OriginFetch) -> Bool { canResume }

  func next(limit: Int) -> BodyPiece {
    if let piece = buffer.next(limit: limit) { return piece }
    guard let end else { return fetch.isDelivering ? .soon : .later }
    consumer = nil
    return end
  }

  func bufferTakesMore() { fetch.resume() }
  func bufferIsReady() { consumer?.bodyIsReady() }

  var trailers: Fields { fetch.trailers }

  func finish() {
    consumer = nil
    fetch.cancel()
    buffer.removeAll()
  }
}
