/// What one loop counts. The loop alone writes, any thread reads. Counting needs no log: it goes on with `access-log = off`.
package final class LoopCounters: Sendable {
  /// The histograms of a loop.
  package enum Histogram: Int, CaseIterable, Sendable {
    /// From the first byte of a request to the last byte of its response.
    case requestDuration
    /// From the first byte of a request to the first byte of its response.
    case firstByte
    /// From the start of an attempt to deliver an upload to its outcome.
    case delivery
    /// The time that a turn of the loop took.
    case turn

    var family: MetricFamily {
      switch self {
      case .requestDuration: .requestDuration
      case .firstByte: .requestFirstByte
      case .delivery: .deliveryDuration
      case .turn: .turnDuration
      }
    }
  }

  // The cells: counters, requests by status and outcome, histograms, the longest turn.
  private static let requestsStart = LoopCounter.allCases.count
  private static let outcomes = CacheOutcome.allCases.count
  private static let histogramsStart = requestsStart + StatusClass.allCases.count * outcomes
  private static let longestTurn = histogramsStart + Histogram.allCases.count * CounterCells.histogramCells
  private let cells = CounterCells(count: LoopCounters.longestTurn + 1)

  package init() {}

  package func add(_ counter: LoopCounter, _ amount: UInt64 = 1) {
    cells.add(counter.rawValue, UInt(truncatingIfNeeded: amount))
  }

  package func addRequest(_ status: StatusClass, _ outcome: CacheOutcome) {
    cells.add(Self.requestsStart + status.rawValue * Self.outcomes + outcome.rawValue, 1)
  }

  package func observe(_ histogram: Histogram, microseconds: UInt64) {
    cells.observe(
      Self.histogramsStart + histogram.rawValue * CounterCells.histogramCells, microseconds: microseconds)
  }

  /// Counts a complete answer of the hot path: a hit with a status of 200 or 206. One call, because it is made for each hit.
  package func addHit(bytes: UInt64, microseconds: UInt64) {
    cells.add(Self.hits, 1)
    cells.add(LoopCounter.toClientFromCache.rawValue, UInt(truncatingIfNeeded: bytes))
    cells.add(LoopCounter.endedDone.rawValue, 1)
    cells.observe(Self.durations, microseconds: microseconds)
    cells.observe(Self.firstBytes, microseconds: microseconds)
  }

  private static let hits = requestsStart + StatusClass.success.rawValue * outcomes + CacheOutcome.hit.rawValue
  private static let durations = histogramsStart
  private static let firstBytes = histogramsStart + CounterCells.histogramCells

  /// Counts a turn of the loop.
  package func addTurn(microseconds: UInt64) {
    observe(.turn, microseconds: microseconds)
    if microseconds > UInt64(cells.load(Self.longestTurn)) {
      cells.store(Self.longestTurn, UInt(truncatingIfNeeded: microseconds))
    }
  }

  // MARK: - Reading, on any thread

  package func value(_ counter: LoopCounter) -> UInt64 { UInt64(cells.load(counter.rawValue)) }

  package func requests(_ status: StatusClass, _ outcome: CacheOutcome) -> UInt64 {
    UInt64(cells.load(Self.requestsStart + status.rawValue * Self.outcomes + outcome.rawValue))
  }

  package func histogram(_ histogram: Histogram) -> TimeHistogram {
    cells.histogram(at: Self.histogramsStart + histogram.rawValue * CounterCells.histogramCells)
  }

  /// The longest turn so far, in microseconds.
  package var longestTurn: UInt64 { UInt64(cells.load(Self.longestTurn)) }
}
