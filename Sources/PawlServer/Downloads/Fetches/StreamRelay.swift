import PawlCache
import PawlHTTP
import PawlWire

/// Relays a response to one client in bounded memory, and does not store it. A ``ResponseBuffer`` holds the bytes for a slow client. A
/// running hash and the last 4 KiB of the delivered bytes are enough to go on after the origin broke off.
final class StreamRelay: FetchBodySink, BodySource, ResponseBufferSource {
  private let fetch: OriginFetch
  private let buffer: ResponseBuffer
  private var delivered: DeliveredMemory?
  private var end: BodyPiece?
  private var toSkip: UInt64
  private let canResume: Bool
  let isLive: Bool
  /// The consumer of the content. Consumer and relay keep each other in memory until the end, when each releases the other.
  var consumer: (any BodyConsumer)?

  /// - Parameters:
  ///   - skipping: the number of bytes at the start that are not sent to the client.
  ///   - canResume: whether the relay may go on after a break; then the delivered bytes are noted for a comparison.
  init(_ fetch: OriginFetch, skipping: UInt64 = 0, canResume: Bool = true) {
    (self.fetch, toSkip, self.canResume, isLive) = (fetch, skipping, canResume, fetch.isLive)
    buffer = ResponseBuffer(for: fetch.request)
    buffer.holder = self
    fetch.hand(to: .body(self))
  }

  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow {
    // Content that comes complete in one piece is never asked for again, so no summary of it is kept.
    if canResume, delivered == nil, fetch.total != UInt64(bytes.count) { delivered = DeliveredMemory(from: offset) }
    delivered?.note(bytes)
    var skipped = 0
    if toSkip > 0 {
      skipped = Int(min(toSkip, UInt64(bytes.count)))
      toSkip -= UInt64(skipped)
    }
    let flow = buffer.append(UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
    guard !fetch.isDelivering || buffer.count >= ResponseBuffer.lowWater else { return flow }
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
    // The consumer is kept while bytes wait in a file, because they have to be read first.
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
