/// The queue of requests that wait for a place: one line for each ``OriginUse``. Requests of a client or path that already holds
/// its share wait in separate lines (`heldBack`), so that they do not block the requests after them (no head-of-line blocking).
struct PlaceQueue: Hashable {
  private struct Line: Hashable {
    var use: OriginUse
    var account: PlaceShares.Account?
  }

  /// How many more requests of each use may run.
  struct Room {
    var fills: Int
    var uploads: Int

    subscript(_ use: OriginUse) -> Int {
      switch use {
      case .passThrough: .max
      case .fill: fills
      case .upload: uploads
      }
    }
  }

  private var passThroughs = RemovableQueue()
  private var fills = RemovableQueue()
  private var uploads = RemovableQueue()
  /// The lines of requests whose client or path holds all places of its share. An empty line is removed.
  private var heldBack: [Line: RemovableQueue] = [:]
  private(set) var count = 0
  /// The line of the request that ``next(_:_:)`` returned last.
  private var chosen: Line?

  mutating func append(_ waiter: ConnectionLimit.Waiter) {
    count += 1
    change(Line(use: waiter.use)) { $0.append(waiter) }
  }

  /// Removes a request. `false`: no request with this ticket waits here.
  mutating func remove(_ ticket: ConnectionLimit.Ticket) -> Bool {
    let isRemoved =
      passThroughs.remove(ticket) || fills.remove(ticket) || uploads.remove(ticket)
      || heldBack.keys.contains { line in change(line) { $0.remove(ticket) } }
    if isRemoved { count -= 1 }
    return isRemoved
  }

  /// Returns the oldest request that may be served. It stays in the queue until ``removeNext()``.
  mutating func next(_ shares: PlaceShares, _ room: Room) -> ConnectionLimit.Waiter? {
    guard count > 0 else { return nil }
    var first: ConnectionLimit.Waiter?
    chosen = nil
    for use in [OriginUse.passThrough, .fill, .upload] where room[use] > 0 {
      look(at: Line(use: use), shares, &first)
    }
    guard !heldBack.isEmpty else { return first }
    for line in Array(heldBack.keys) where room[line.use] > 0 {
      guard let account = line.account, !shares.isFull(account) else { continue }
      look(at: line, shares, &first)
    }
    return first
  }

  mutating func removeNext() {
    guard let chosen else { return }
    self.chosen = nil
    count -= 1
    change(chosen) { $0.removeFirst() }
  }

  /// Sets `first` to the first request of the line that may be served, if that is older than `first`. Requests before it whose
  /// client or path holds its share are moved to `heldBack`.
  private mutating func look(at line: Line, _ shares: PlaceShares, _ first: inout ConnectionLimit.Waiter?) {
    while let waiter = self[line].first {
      guard let account = shares.full(waiter.holder, waiter.use) else {
        if waiter.ticket < first?.ticket ?? .max { (first, chosen) = (waiter, line) }
        return
      }
      change(line) { $0.removeFirst() }
      change(Line(use: line.use, account: account)) { $0.append(waiter) }
    }
  }

  /// Returns how many requests could be served if enough places were free.
  func servable(_ shares: PlaceShares, _ room: Room) -> Int {
    var servable = passThroughs.count + min(fills.count, room.fills) + min(uploads.count, room.uploads)
    for (line, waiting) in heldBack {
      guard let account = line.account, !shares.isFull(account) else { continue }
      servable += min(waiting.count, room[line.use])
    }
    return servable
  }

  private subscript(_ line: Line) -> RemovableQueue {
    guard line.account == nil else { return heldBack[line] ?? RemovableQueue() }
    return switch line.use {
    case .passThrough: passThroughs
    case .fill: fills
    case .upload: uploads
    }
  }

  @discardableResult
  private mutating func change<R>(_ line: Line, _ body: (inout RemovableQueue) -> R) -> R {
    guard line.account == nil else {
      let result = body(&heldBack[line, default: RemovableQueue()])
      if heldBack[line]?.count == 0 { heldBack[line] = nil }
      return result
    }
    return switch line.use {
    case .passThrough: body(&passThroughs)
    case .fill: body(&fills)
    case .upload: body(&uploads)
    }
  }
}
