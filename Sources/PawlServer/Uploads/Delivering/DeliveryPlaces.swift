import DequeModule
import PawlUpstream

/// Counts the running deliveries to one upstream, and chooses the next one of those that wait. Pure: the caller starts the
/// deliveries.
///
/// A place here is the right to run one of at most ``limit`` deliveries. Each upstream has places of its own, so an application
/// that hangs delays no uploads to other upstreams. A client may hold only a share of the places, and a path whose responses take
/// long may hold only a share, too. The upstream's connections are shared in the same way. A delivery above a share waits, and
/// others start before it. Clients take turns, so a client with many uploads delays every other client by one delivery only.
/// Every fourth place is for uploads whose client does not wait.
struct DeliveryPlaces<Entry> {
  /// The most deliveries at a time.
  let limit: Int
  /// One in this many places is for an upload whose client does not wait, while uploads of both kinds wait.
  static var turn: Int { 4 }

  private(set) var running = 0
  private var shares: PlaceShares
  private var urgent = ShareLine<Entry>()
  private var patient = ShareLine<Entry>()
  private var urgentInARow = 0

  /// - Parameters:
  ///   - limit: the number of places.
  ///   - clientShare: the percentage of the places that deliveries of one client may hold.
  ///   - pathShare: the percentage of the places that deliveries to one path may hold while its responses take long.
  init(limit: Int, clientShare: Int = 100, pathShare: Int = 100) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: pathShare)
  }

  /// Whether no delivery runs or waits.
  var isIdle: Bool { running == 0 && urgent.isEmpty && patient.isEmpty }

  /// - Parameters:
  ///   - client: the client in whose turn the delivery starts.
  ///   - holder: the client and path that the delivery's place counts for.
  ///   - isUrgent: whether the client waits for the response.
  mutating func append(
    _ entry: Entry, of client: [UInt8], _ holder: PlaceHolder = .nobody, isUrgent: Bool
  ) {
    let waiter = ShareLine<Entry>.Waiter(entry: entry, client: client, holder: holder)
    if isUrgent { urgent.append(waiter) } else { patient.append(waiter) }
  }

  /// Returns the delivery to start now, and takes a place for it; `nil`: no place is free, or no waiting delivery may have one.
  /// - Parameter isWaiting: whether a delivery still waits here. A delivery that does not wait any more is dropped, and uses up
  ///   no turn.
  mutating func start(where isWaiting: (Entry) -> Bool) -> (entry: Entry, holder: PlaceHolder)? {
    guard running < limit else { return nil }
    if urgentInARow >= Self.turn - 1, let waiter = patient.popFirst(shares, where: isWaiting) {
      urgentInARow = 0
      return begin(waiter)
    }
    let found = urgent.popFirst(shares, where: isWaiting)
    // The count goes on only while deliveries of both kinds wait.
    urgentInARow = found == nil || patient.isEmpty ? 0 : urgentInARow + 1
    return (found ?? patient.popFirst(shares, where: isWaiting)).map { begin($0) }
  }

  private mutating func begin(_ waiter: ShareLine<Entry>.Waiter) -> (entry: Entry, holder: PlaceHolder) {
    running += 1
    shares.take(waiter.holder)
    return (waiter.entry, waiter.holder)
  }

  /// Gives a place back, because a delivery is over or could not be started.
  /// - Parameter isQuick: whether the delivery held its place for a short time only (``PlaceShares/quick``).
  mutating func ended(_ holder: PlaceHolder = .nobody, isQuick: Bool = false) {
    running -= 1
    shares.giveBack(holder, isQuick: isQuick)
  }

  /// Drops the deliveries whose client does not wait.
  mutating func dropPatient() { patient = ShareLine() }
}

/// The waiting deliveries. Those above the share of their client or path wait in separate lines, so that a delivery that may
/// start never waits for one that may not.
struct ShareLine<Entry> {
  struct Waiter {
    let entry: Entry
    let client: [UInt8]
    let holder: PlaceHolder
  }

  private var ready = FairLine<Waiter>()
  /// The deliveries above a share, by the account (client or path) whose share is used up. No line in this dictionary is empty.
  private var heldBack: [PlaceShares.Account: FairLine<Waiter>] = [:]
  /// Whether it is the turn of ``heldBack``; `false`: it is the turn of ``ready``.
  private var heldBacksTurn = false

  var isEmpty: Bool { ready.isEmpty && heldBack.isEmpty }

  mutating func append(_ waiter: Waiter) { ready.append(waiter, of: waiter.client) }

  mutating func popFirst(_ shares: PlaceShares, where isWaiting: (Entry) -> Bool) -> Waiter? {
    heldBacksTurn.toggle()
    let first = heldBacksTurn ? popHeldBack(shares, where: isWaiting) : popReady(shares, where: isWaiting)
    if let first { return first }
    return heldBacksTurn ? popReady(shares, where: isWaiting) : popHeldBack(shares, where: isWaiting)
  }

  private mutating func popReady(_ shares: PlaceShares, where isWaiting: (Entry) -> Bool) -> Waiter? {
    while let waiter = ready.popFirst(where: { isWaiting($0.entry) }) {
      guard let account = shares.full(waiter.holder) else { return waiter }
      heldBack[account, default: FairLine()].append(waiter, of: waiter.client)
    }
    return nil
  }

  private mutating func popHeldBack(_ shares: PlaceShares, where isWaiting: (Entry) -> Bool) -> Waiter? {
    for account in Array(heldBack.keys) where !shares.isFull(account) {
      while let waiter = heldBack[account]?.popFirst(where: { isWaiting($0.entry) }) {
        if heldBack[account]?.isEmpty == true { heldBack[account] = nil }
        guard let other = shares.full(waiter.holder) else { return waiter }
        heldBack[other, default: FairLine()].append(waiter, of: waiter.client)
      }
      // All deliveries of this account had stopped waiting.
      if heldBack[account]?.isEmpty == true { heldBack[account] = nil }
    }
    return nil
  }
}

/// A queue in which clients take turns; first in, first out for each client.
struct FairLine<Entry> {
  private var lines: [[UInt8]: Deque<Entry>] = [:]
  /// The clients with entries, each once, in the order of their turns.
  private var turns = Deque<[UInt8]>()

  var isEmpty: Bool { lines.isEmpty }

  mutating func append(_ entry: Entry, of client: [UInt8]) {
    if lines[client] == nil { turns.append(client) }
    lines[client, default: Deque()].append(entry)
  }

  mutating func popFirst(where isWaiting: (Entry) -> Bool) -> Entry? {
    while let client = turns.popFirst() {
      var found: Entry?
      while found == nil, let entry = lines[client]?.popFirst() { if isWaiting(entry) { found = entry } }
      if lines[client]?.isEmpty == true { lines[client] = nil } else { turns.append(client) }
      if let found { return found }
    }
    return nil
  }
}
