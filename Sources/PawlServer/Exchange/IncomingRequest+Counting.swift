import PawlHTTP
import PawlLoop
import PawlObserve

/// What of a request is counted. All of it is counted without an access log, too.
extension IncomingRequest {
  /// Bytes after which a running answer is counted again, so that a long download shows while it runs.
  private static let countingStep: UInt64 = 1 << 20

  /// Counts the request among the active transfers of this kind, and no longer among those of another.
  func counts(as kind: TransferKind) {
    guard activeKind != kind else { return }
    if let activeKind { loop.counters.add(activeKind.ended) }
    loop.counters.add(kind.began)
    activeKind = kind
  }

  /// Notes content bytes that are about to be given to the client's socket.
  func noteSent(_ count: Int) {
    record.bytesSent += UInt64(count)
    if record.bytesSent >= record.countedBytes + Self.countingStep { countBytes(as: .toClientFromOrigin) }
  }

  /// Counts the bytes that were sent since the last call.
  /// - Parameter other: the source of those that were not in the cache.
  private func countBytes(as other: LoopCounter) {
    guard record.bytesSent > record.countedBytes else { return }
    let new = record.bytesSent - record.countedBytes
    let cached = min(new, record.bytesFromCache - min(record.bytesFromCache, record.countedFromCache))
    record.countedBytes = record.bytesSent
    record.countedFromCache += cached
    let counters = loop.counters
    if cached > 0 { counters.add(.toClientFromCache, cached) }
    guard new > cached else { return }
    counters.add(other, new - cached)
    if record.cacheOutcome == .collapsed { counters.add(.savedByCollapse, new - cached) }
  }

  /// Counts the request, which is over.
  func countEnd(at now: Monotonic) {
    let counters = loop.counters
    countBytes(as: isAnsweredByPawl ? .toClientFromPawl : .toClientFromOrigin)
    if let activeKind { counters.add(activeKind.ended) }
    activeKind = nil
    counters.addRequest(StatusClass(record.status), record.cacheOutcome)
    counters.add(record.end?.counter ?? .endedDone)
    counters.observe(.requestDuration, microseconds: now.microseconds(since: record.began))
    if let answeredAt = record.answeredAt {
      counters.observe(.firstByte, microseconds: answeredAt.microseconds(since: record.began))
    }
    if record.status == 206, let offset = Self.resumedAt(head.fields) {
      counters.add(.clientResumedRange)
      counters.add(.savedByClientResume, offset)
    }
  }

  /// Whether no byte of the answer came from the cache or the origin. Answers to uploads that pawl stores count as pawl's own.
  private var isAnsweredByPawl: Bool {
    activeKind != .tunnel && record.bytesFromCache == 0 && record.bytesFromOrigin == 0 && tally.received == 0
      && (record.cacheOutcome == .none || record.cacheOutcome == .bypass)
  }

  /// Returns the offset at which a client goes on with a download: it asks for all bytes from there on, in one range. `nil`: it
  /// asks for something else.
  static func resumedAt(_ fields: Fields) -> UInt64? {
    guard let range = RangeField(fields), range.specs.count == 1, case .from(let first, nil) = range.specs[0], first > 0
    else { return nil }
    return first
  }
}

extension BodyEnd {
  var counter: LoopCounter {
    switch party {
    case .client: .endedByClient
    case .origin: .endedByOrigin
    case .pawl: .endedByPawl
    }
  }
}
