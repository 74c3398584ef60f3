import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlWire

/// Fetches the rest of a streamed body for one reader, after the memory window has moved past the reader's position. It sends a request of
/// its own, and reads at the reader's pace. New bytes are used only if they are proven to continue the bytes that the reader was given.
final class OvertakenReaderFetch: FetchBodySink {
  private static let highWater = 256 << 10
  private static let lowWater = 64 << 10

  private var fetch: OriginFetch?
  private let body: StoredBody
  /// A summary of the bytes that the reader was given from memory. All earlier bytes are in the body's file.
  private var given: DeliveredMemory?
  private var queue = ChunkQueue()
  private var end: BodyPiece?
  private let ready: () -> Void

  /// - Parameters:
  ///   - position: the offset at which the reader goes on.
  ///   - end: the exclusive end of what the reader needs; `nil`: the end of the body.
  ///   - given: the summary of the bytes that the reader was given from memory, up to `position`.
  ///   - ready: called when there is more to take.
  /// - Returns: `nil` if there is no way to prove that fetched bytes are the missing ones.
  init?(
    _ response: StoredResponse, from position: UInt64, through end: UInt64?, given: DeliveredMemory?,
    identity: RepresentationIdentity, refusesRanges: Bool, for request: IncomingRequest, ready: @escaping () -> Void
  ) {
    (body, self.given, self.ready) = (response.body, given, ready)
    guard response.head.status == 200 else { return nil }
    var progress = ResumeProgress(
      held: position, attemptLimit: request.route.resumeAttempts,
      replayFactor: UInt64(max(0, request.route.replayLimit)))
    progress.originRefusesRanges = refusesRanges
    // Bytes between the end of the file and the start of `given` were given to other readers only, so they cannot be compared.
    let isComparable = given?.start ?? position <= response.body.held.prefix
    let start = isComparable ? 0 : given?.start ?? position
    let decision = decideResume(held: position, spanStart: start, identity: identity, progress: progress)
    if case .giveUp = decision { return nil }
    let fetch = OriginFetch(for: request, base: request.asSent, use: .passThrough, for: .body(self))
    self.fetch = fetch
    let isWhole = end == nil || end == identity.total
    // Begin in the next turn, because the caller still takes the bytes that are there.
    request.loop.loop.nextTurn { [weak fetch] in
      fetch?.goOn(from: position, since: start, through: isWhole ? nil : end, of: identity, asking: decision)
    }
  }

  func next(limit: Int) -> BodyPiece {
    if let (bytes, range) = queue.next(limit: limit) {
      if queue.count <= Self.lowWater { fetch?.resume() }
      return .memory(bytes, range)
    }
    return end ?? (fetch?.isDelivering == true ? .soon : .later)
  }

  func finish() {
    fetch?.cancel()
    fetch = nil
    queue.removeAll()
  }

  func fetch(_ fetch: OriginFetch, bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Flow {
    if given == nil { given = DeliveredMemory(from: offset) }
    given?.note(bytes)
    let waiting = queue.append(bytes)
    if !fetch.isDelivering || waiting >= Self.lowWater { ready() }
    return queue.count >= Self.highWater ? .pause : .goOn
  }

  func fetch(_ fetch: OriginFetch, compare bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Comparison {
    StoredComparison.compare(bytes, at: offset, with: body, then: &given, for: fetch)
  }

  func fetchDelivered(_ fetch: OriginFetch) { ready() }
  func fetchEnded(_ fetch: OriginFetch, at end: UInt64) { tellLast(.end) }
  func fetchFailed(_ fetch: OriginFetch, _ failure: FetchFailure) { tellLast(.failed(failure.end)) }
  func fetchIsWanted(_ fetch: OriginFetch) -> Bool { true }

  private func tellLast(_ end: BodyPiece) {
    self.end = end
    fetch = nil
    ready()
  }
}
