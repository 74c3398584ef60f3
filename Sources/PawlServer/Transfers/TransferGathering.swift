import PawlLoop

/// A loop whose transfers can be listed. Any thread.
struct TransferSource: Sendable {
  let loop: EventLoop
  /// Lists the transfers; called on that loop.
  let collect: @Sendable (TransferQuery, @escaping TransferCollector.Take) -> Void
}

/// Gathers the transfers of all loops, as their slices come. Lives on the loop that asks; keeps itself alive until it is done.
final class TransferGathering {
  /// How long a loop may take. What it has not told by then is left out.
  static let patience = Duration.seconds(5)

  struct Outcome {
    /// The transfers that belong to the answer, those beyond its limit included.
    var total = 0
    var shown = 0
    /// Whether all loops have told all.
    var isComplete = true
  }

  private let query: TransferQuery
  private let rows: ([TransferRow]) -> Void
  private let done: (Outcome) -> Void
  private var outcome = Outcome()
  private var waits: Int
  private var timer: LoopTimer?
  private var keeper: TransferGathering?

  /// Begins at once.
  /// - Parameters:
  ///   - rows: called for each slice with what belongs to the answer.
  ///   - done: called once, at the end; never within this call.
  @discardableResult
  init(
    _ query: TransferQuery, from sources: [TransferSource], on loop: EventLoop, rows: @escaping ([TransferRow]) -> Void,
    done: @escaping (Outcome) -> Void
  ) {
    (self.query, self.rows, self.done, waits) = (query, rows, done, sources.count)
    keeper = self
    let timer = loop.makeTimer { [weak self] in
      self?.outcome.isComplete = false
      self?.end()
    }
    self.timer = timer
    timer.schedule(after: Self.patience)
    let own = LoopWeak(self, on: loop)
    for source in sources {
      source.loop.run {
        source.collect(query) { rows, others, isLast in own.run { $0.take(rows, others, isLast) } }
      }
    }
    if sources.isEmpty { loop.nextTurn { [self] in end() } }
  }

  private func take(_ came: [TransferRow], _ others: Int, _ isLast: Bool) {
    guard keeper != nil else { return }
    // Each loop lists up to the limit by itself.
    let used = came.prefix(query.limit - outcome.shown)
    outcome.total += came.count + others
    outcome.shown += used.count
    if !used.isEmpty { rows(Array(used)) }
    guard isLast else { return }
    waits -= 1
    if waits == 0 { end() }
  }

  private func end() {
    guard keeper != nil else { return }
    timer?.close()
    done(outcome)
    keeper = nil
  }
}
