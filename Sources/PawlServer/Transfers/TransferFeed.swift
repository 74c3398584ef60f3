import PawlBase
import PawlHTTP
import PawlLoop

/// The list of transfers as an event stream: once a second the loops are asked, and each subscriber gets what changed. Lives on
/// the admin loop. Without subscribers nothing is asked.
final class TransferFeed {
  static let interval = Duration.seconds(1)
  /// The most subscribers at a time.
  static let subscriberLimit = 16

  private let loop: EventLoop
  private let sources: () -> [TransferSource]
  private var subscribers: [TransferStream] = []
  private var known: [UInt64: TransferRow] = [:]
  private var present: [UInt64: TransferRow] = [:]
  private var isGathering = false
  private lazy var timer = loop.makeTimer { [weak self] in self?.gather() }

  init(on loop: EventLoop, sources: @escaping () -> [TransferSource]) { (self.loop, self.sources) = (loop, sources) }

  /// Adds a subscriber, which gets a snapshot first; `nil`: there are too many.
  func subscribe(_ query: TransferQuery) -> TransferStream? {
    guard subscribers.count < Self.subscriberLimit else { return nil }
    let stream = TransferStream(query, feed: self)
    subscribers.append(stream)
    if !isGathering {
      timer.cancel()
      loop.nextTurn { [weak self] in self?.gather() }
    }
    return stream
  }

  func leave(_ stream: TransferStream) {
    subscribers.removeAll { $0 === stream }
    if subscribers.isEmpty { (known, present) = ([:], [:]) }
  }

  private func gather() {
    guard !isGathering, !subscribers.isEmpty else { return }
    isGathering = true
    present = [:]
    var all = TransferQuery()
    all.limit = TransferQuery.largestLimit
    TransferGathering(
      all, from: sources(), on: loop, rows: { [weak self] in self?.take($0) }, done: { [weak self] _ in self?.tell() })
  }

  private func take(_ rows: [TransferRow]) { for row in rows { present[row.key] = row } }

  private func tell() {
    isGathering = false
    guard !subscribers.isEmpty else { return }
    let changes = TransferChanges(from: known, to: present)
    for stream in subscribers { stream.tell(changes, present) }
    known = present
    timer.schedule(after: Self.interval)
  }
}

/// What changed from one look at the transfers to the next.
struct TransferChanges {
  private(set) var began: [TransferRow] = []
  private(set) var moved: [TransferRow] = []
  private(set) var ended: [TransferRow] = []

  init(from old: [UInt64: TransferRow], to new: [UInt64: TransferRow]) {
    for (key, row) in new {
      guard let before = old[key] else {
        began.append(row)
        continue
      }
      let isSame =
        before.done == row.done && before.total == row.total && before.rate == row.rate
        && before.state == row.state && before.resumes == row.resumes && before.lastBreak == row.lastBreak
      if !isSame { moved.append(row) }
    }
    for (key, row) in old where new[key] == nil { ended.append(row) }
  }

  /// The event with what a subscriber asked for; rows that moved have only what changes.
  func event(for query: TransferQuery) -> [UInt8] {
    var text = Array("event: changes\ndata: {\"began\":[".utf8)
    Self.list(began.filter { query.takes($0) }, into: &text) { $0.append(json: $1) }
    text.append(text: "],\"moved\":[")
    Self.list(moved.filter { query.takes($0) }, into: &text) { text, row in
      text.append(key: row)
      text.appendProgress(of: row)
      text.append(0x7d)
    }
    text.append(text: "],\"ended\":[")
    Self.list(ended.filter { query.takes($0) }, into: &text) { text, row in
      text.append(key: row)
      text.append(0x7d)
    }
    text.append(text: "]}\n\n")
    return text
  }

  /// The event with all transfers that a subscriber asked for, up to its limit.
  static func snapshot(_ rows: [UInt64: TransferRow], for query: TransferQuery) -> [UInt8] {
    var (page, outcome) = (TransferPage(), TransferGathering.Outcome())
    for row in rows.values where query.takes(row) {
      outcome.total += 1
      guard outcome.shown < query.limit else { continue }
      outcome.shown += 1
      page.add([row])
    }
    page.end(outcome)
    return Array("event: snapshot\ndata: ".utf8) + page.bytes + [0x0a, 0x0a]
  }

  private static func list(
    _ rows: [TransferRow], into text: inout [UInt8], _ append: (inout [UInt8], TransferRow) -> Void
  ) {
    for (index, row) in rows.enumerated() {
      if index > 0 { text.append(0x2c) }
      append(&text, row)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(key row: TransferRow) {
    append(text: "{\"key\":\"")
    append(decimal: row.key >> 32)
    append(0x2d)
    append(decimal: row.key & 0xffff_ffff)
    append(0x22)
  }
}

/// The content of one subscriber's response. A subscriber that has not taken the last event gets no more until it has; then it
/// gets a snapshot. So at most one event waits in memory for each.
final class TransferStream: BodySource {
  private let query: TransferQuery
  private unowned let feed: TransferFeed
  private var pending: [UInt8] = []
  private var sent = 0
  private var needsSnapshot = true
  weak var consumer: (any BodyConsumer)?
  var isLive: Bool { true }

  init(_ query: TransferQuery, feed: TransferFeed) { (self.query, self.feed) = (query, feed) }

  func tell(_ changes: TransferChanges, _ rows: [UInt64: TransferRow]) {
    guard sent == pending.count else { return needsSnapshot = true }
    pending = needsSnapshot ? TransferChanges.snapshot(rows, for: query) : changes.event(for: query)
    (sent, needsSnapshot) = (0, false)
    consumer?.bodyIsReady()
  }

  func next(limit: Int) -> BodyPiece {
    guard sent < pending.count else { return .later }
    let range = sent..<min(pending.count, sent + limit)
    sent = range.upperBound
    return .memory(pending, range)
  }

  func finish() {
    pending = []
    sent = 0
    feed.leave(self)
  }
}
