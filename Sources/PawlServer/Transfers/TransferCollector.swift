import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload

/// Lists the transfers of one loop, a slice in each turn, so that nobody on the loop waits for it. It looks at what the loop has
/// anyway: connections with their exchanges, fills, deliveries. Nothing is registered for it. Lives on that loop.
final class TransferCollector {
  /// What one slice may cost: ``rowCost`` for each transfer that is listed, 1 for each that is only looked at. About half a
  /// millisecond.
  static let sliceBudget = 1600
  static let rowCost = 10

  /// Takes the rows of one slice. `others`: transfers that belong to the answer but were beyond its limit.
  typealias Take = @Sendable (_ rows: [TransferRow], _ others: Int, _ isLast: Bool) -> Void

  private let query: TransferQuery
  private let connections: LoopConnections
  private let uploads: LoopUploads
  private let take: Take
  private var waiting: [any ServedConnection]
  private var streams: [HTTP2Stream] = []
  private var tunnels: [IncomingRequest] = []
  private var fills: [Fill]
  private var deliveries: [DeliveryAttempt]
  private var rows: [TransferRow] = []
  private var others = 0
  private var left: Int
  private var budget = 0

  private var services: LoopServices { connections.services }
  private var loop: EventLoop { connections.loop }

  /// - Parameter query: its limit is that of this loop.
  init(_ query: TransferQuery, _ connections: LoopConnections, _ uploads: LoopUploads, take: @escaping Take) {
    (self.query, self.connections, self.uploads, self.take) = (query, connections, uploads, take)
    left = query.limit
    waiting = connections.members.all
    fills = Array(connections.downloads.fills.values)
    deliveries = Array(uploads.queue.running.values)
  }

  /// Lists everything, the first slice in this turn.
  func start() {
    budget = Self.sliceBudget
    while budget > 0 {
      guard look() else { return deliver(isLast: true) }
    }
    deliver(isLast: false)
    loop.nextTurn { [self] in start() }
  }

  private func deliver(isLast: Bool) {
    take(rows, others, isLast)
    (rows, others) = ([], 0)
  }

  /// Looks at the next one. Returns `false` when there are no more.
  private func look() -> Bool {
    budget -= 1
    if let stream = streams.popLast() {
      guard let request = stream.request else { return true }
      add(request, stream.exchange, stream.hasResponded, receives: !stream.requestHasEnded, "HTTP/2.0")
    } else if let connection = waiting.popLast() {
      switch connection {
      case let connection as HTTP1Connection:
        guard let request = connection.request else { break }
        let (version, receives) = (connection.clientVersion.text, connection.contentIsUnended)
        add(request, connection.exchange, connection.hasResponded, receives: receives, version)
      case let connection as HTTP2Connection:
        streams = Array(connection.streams.values) + connection.unsentAnswers.map(\.stream).filter(\.isClosed)
        budget -= streams.count / 16
      default: break
      }
    } else if let fill = fills.popLast() {
      add(fill)
    } else if let attempt = deliveries.popLast() {
      add(attempt)
    } else {
      return false
    }
    return true
  }

  /// Whether a transfer of this kind belongs to the answer and is within its limit. Counts those beyond.
  private func wants(_ kind: TransferKind, _ upstream: String) -> Bool {
    guard query.takes(kind, upstream) else { return false }
    guard left > 0 else {
      others += 1
      return false
    }
    left -= 1
    budget -= Self.rowCost
    return true
  }

  private func key(_ sample: inout TransferSample) -> UInt64 {
    if sample.number == 0 {
      services.transferCount &+= 1
      sample.number = services.transferCount
    }
    return UInt64(UInt32(truncatingIfNeeded: loop.index)) << 32 | UInt64(sample.number)
  }

  private func age(_ began: Monotonic) -> UInt64 { loop.now.microseconds(since: began) / 1000 }

  // MARK: - The kinds

  /// - Parameter receives: whether content of the request is still to come.
  private func add(
    _ request: IncomingRequest, _ exchange: (any Exchange)?, _ hasAnswered: Bool, receives: Bool,
    _ version: StaticString
  ) {
    let kind = request.activeKind ?? .download
    guard wants(kind, request.record.upstream) else { return }
    let upload = (exchange as? UploadExchange)?.upload
    var row = TransferRow(
      key: key(&request.record.sample), kind: kind, id: upload.map { Array($0.id.hex.utf8) } ?? request.requestID,
      upstream: request.record.upstream == "-" ? "" : request.record.upstream, done: request.record.bytesSent,
      total: request.record.announced, age: age(request.record.began),
      state: kind == .tunnel ? .open : hasAnswered ? .sending : .waiting)
    if let facts = upload?.status, !hasAnswered {
      (row.done, row.total, row.state) = (facts.offset, facts.length, state(of: facts))
    } else if kind == .upload, !hasAnswered {
      (row.done, row.total, row.state) = progress(of: request, exchange, receives: receives)
    }
    row.client = request.facts.text
    row.target = shown(request.head.target)
    (row.site, row.version) = (request.route.name, version)
    row.lastBreak = request.tally.lastBreak ?? request.record.end?.reason
    row.resumes = request.tally.resumes
    row.rate = request.record.sample.look(row.done, began: request.record.began, now: loop.now)
    rows.append(row)
  }

  /// How far an ordinary request with content has come: first its content comes from the client, then the origin gets it.
  private func progress(
    of request: IncomingRequest, _ exchange: (any Exchange)?, receives: Bool
  ) -> (done: UInt64, total: UInt64?, TransferState) {
    let received = request.record.contentReceived
    guard receives else { return (min(exchange?.contentPassedOn ?? received, received), received, .delivering) }
    guard case .length(let length) = request.head.framing else { return (received, nil, .receiving) }
    return (received, length, .receiving)
  }

  private func state(of facts: UploadFacts) -> TransferState {
    switch facts.phase {
    case .open: .receiving
    case .complete, .forwarding, .sent: .delivering
    case .answered, .unknown, .invalid, .removed: .over
    }
  }

  private func add(_ fill: Fill) {
    guard let fetch = fill.fetch, wants(.fill, fill.route.upstreamName) else { return }
    let end = fetch.spanEnd ?? fill.body.total
    var row = TransferRow(
      key: key(&fill.sample), kind: .fill, id: Array(fill.body.id.hex.utf8), upstream: fill.route.upstreamName,
      done: fetch.frontier - min(fetch.frontier, fetch.spanStart),
      total: end.map { $0 - min($0, fetch.spanStart) }, age: age(fill.began),
      state: fill.isPaused ? .paused : fill.hasReaders ? .fetching : .unread)
    row.target = shown(fetch.base.target)
    row.site = fill.route.name
    if fetch.state.hasBroken { row.lastBreak = fetch.attempts.failure }
    row.resumes = fetch.resumes
    row.rate = fill.sample.look(row.done, began: fill.began, now: loop.now)
    rows.append(row)
  }

  private func add(_ attempt: DeliveryAttempt) {
    guard wants(.delivery, attempt.route.upstreamName) else { return }
    var row = TransferRow(
      key: key(&attempt.sample), kind: .delivery, id: Array(attempt.id.utf8), upstream: attempt.route.upstreamName,
      done: attempt.origin?.contentBytesSent ?? 0, total: attempt.upload.status.offset, age: age(attempt.began),
      state: state(of: attempt))
    row.client = attempt.upload.client
    row.site = attempt.route.name
    if let target = attempt.request?.head.target { row.target = shown(target) }
    row.lastBreak = attempt.upload.lastError
    row.resumes = max(0, attempt.attempt - 1)
    row.rate = attempt.sample.look(row.done, began: attempt.began, now: loop.now)
    rows.append(row)
  }

  private func state(of attempt: DeliveryAttempt) -> TransferState {
    switch attempt.phase {
    case .preparing: .preparing
    case .sending: attempt.origin?.isWaitingForPlace == true ? .waiting : .sending
    case .journalling, .sent: .sent
    case .over: .over
    }
  }

  private func shown(_ target: Bytes) -> [UInt8] { Array(services.shown(target).prefix(TransferRow.targetLimit)) }
}
