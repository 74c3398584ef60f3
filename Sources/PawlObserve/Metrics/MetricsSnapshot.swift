/// The samples of all metrics at one time. Filled in any order; written in the order of ``MetricFamily``.
package struct MetricsSnapshot: Sendable {
  package enum Value: Hashable, Sendable {
    case count(UInt64)
    /// A time, written in seconds.
    case microseconds(UInt64)
    case histogram(TimeHistogram)
  }

  struct Sample: Sendable {
    let labels: [MetricLabel]
    let value: Value
  }

  private(set) var samples = [[Sample]](repeating: [], count: MetricFamily.allCases.count)
  private static let order = Dictionary(
    uniqueKeysWithValues: MetricFamily.allCases.enumerated().map { ($0.element, $0.offset) })

  package init() {}

  package mutating func add(_ family: MetricFamily, _ value: Value) { add(family, [], value) }

  package mutating func add(_ family: MetricFamily, _ labels: [MetricLabel], _ value: Value) {
    guard let index = Self.order[family] else { return }
    samples[index].append(Sample(labels: labels, value: value))
  }

  package mutating func add(_ family: MetricFamily, _ labels: [MetricLabel], count: Int) {
    add(family, labels, .count(UInt64(max(0, count))))
  }

  func samples(of family: MetricFamily) -> [Sample] { Self.order[family].map { samples[$0] } ?? [] }

  // MARK: - What loops count

  /// Adds the sums over all loops.
  package mutating func add(loops: [LoopCounters]) {
    func sum(_ counter: LoopCounter) -> UInt64 { loops.reduce(0) { $0 &+ $1.value(counter) } }
    for counter in LoopCounter.allCases {
      guard let (family, labels) = counter.sample else { continue }
      add(family, labels, .count(sum(counter)))
    }
    // What the cache gave did not have to come from the origin.
    add(.bytesSaved, [("by", "cache")], .count(sum(.toClientFromCache)))
    add(.forwardUnknown, .count(sum(.forwardUnknown)))
    for kind in TransferKind.allCases {
      add(.transfersActive, [("kind", "\(kind.word)")], .count(Self.active(sum(kind.began), sum(kind.ended))))
    }
    for (protocolName, began, ended) in Self.connections {
      add(.connectionsActive, [("protocol", protocolName)], .count(Self.active(sum(began), sum(ended))))
    }
    for status in StatusClass.allCases {
      for outcome in CacheOutcome.allCases {
        let count = loops.reduce(0) { $0 &+ $1.requests(status, outcome) }
        add(.requests, [("code", "\(status.label)"), ("cache", "\(outcome.label)")], .count(count))
      }
    }
    for histogram in LoopCounters.Histogram.allCases {
      var whole = TimeHistogram()
      for loop in loops { whole.add(loop.histogram(histogram)) }
      add(histogram.family, [], .histogram(whole))
    }
    for (index, loop) in loops.enumerated() {
      add(.turnLongest, [("loop", "\(index)")], .microseconds(loop.longestTurn))
    }
  }

  private static let connections: [(String, LoopCounter, LoopCounter)] = [
    ("opening", .openingsBegan, .openingsEnded), ("http1", .http1Began, .http1Ended),
    ("http2", .http2Began, .http2Ended),
  ]

  /// Returns how many of those that began have not ended. The two counts are not read at the same moment.
  private static func active(_ began: UInt64, _ ended: UInt64) -> UInt64 { began > ended ? began - ended : 0 }

  /// Adds the sums over all loops for one upstream.
  package mutating func add(upstream name: String, loops: [UpstreamCounters]) {
    let upstream: MetricLabel = ("upstream", name)
    func sum(_ counter: UpstreamCounters.Counter) -> Value { .count(loops.reduce(0) { $0 &+ $1.value(counter) }) }
    add(.originRequests, [upstream], sum(.requests))
    add(.originRetries, [upstream], sum(.retries))
    add(.originConnectionsOpened, [upstream], sum(.connectionsOpened))
    add(.originConnectionsReused, [upstream], sum(.connectionsReused))
    add(.originBytes, [upstream, ("direction", "received")], sum(.bytesReceived))
    add(.originBytes, [upstream, ("direction", "sent")], sum(.bytesSent))
    for status in StatusClass.allCases where status != .none {
      let count = loops.reduce(0) { $0 &+ $1.responses(status) }
      add(.originResponses, [upstream, ("code", "\(status.label)")], .count(count))
    }
    for kind in OriginFailureKind.allCases {
      let count = loops.reduce(0) { $0 &+ $1.failures(kind) }
      add(.originFailures, [upstream, ("kind", "\(kind.label)")], .count(count))
    }
    for defect in OriginDefect.allCases {
      let count = loops.reduce(0) { $0 &+ $1.defects(defect) }
      add(.originDefects, [upstream, ("defect", "\(defect.label)")], .count(count))
    }
    var firstByte = TimeHistogram()
    for loop in loops { firstByte.add(loop.firstByte) }
    add(.originFirstByte, [upstream], .histogram(firstByte))
  }
}
