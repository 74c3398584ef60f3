import DequeModule
import PawlUpstream

/// What waits to be delivered to one upstream, and how many deliveries it has at a time. Pure: the caller starts them.
///
/// The places are the upstream's own: one whose application hangs holds up nobody else's uploads. Nor do one client's uploads, or those
/// to one path whose answers take long: each has its share of the places, as of the upstream's connections, and what is above it lets
/// others pass. Clients take turns, so that one with many uploads delays each of the others by one; and every fourth place is for what
/// nobody waits for any more.
struct DeliveryPlaces<Entry> {
  /// So many deliveries at a time.
  let limit: Int
  /// Of so many places that become free while both kinds wait, one is for uploads whose client does not wait.
  static var turn: Int { 4 }

  private(set) var running = 0
  private var shares: PlaceShares
  private var urgent = ShareLine<Entry>()
  private var patient = ShareLine<Entry>()
  private var urgentInARow = 0

  /// - Parameters:
  ///   - limit: places.
  ///   - clientShare: percent of them that deliveries of one client may hold.
  ///   - pathShare: percent of them that deliveries to one path may hold while its answers take long.
  init(limit: Int, clientShare: Int = 100, pathShare: Int = 100) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: pathShare)
  }

  /// Nothing runs, and nothing waits.
  var isIdle: Bool { running == 0 && urgent.isEmpty && patient.isEmpty }

  /// - Parameters:
  ///   - client: whose turn it takes.
  ///   - holder: who counts for the place.
  ///   - isUrgent: a client waits for the answer.
  mutating func append(
    _ entry: Entry, of client: [UInt8], _ holder: PlaceHolder = .nobody, isUrgent: Bool
  ) {
    let waiter = ShareLine<Entry>.Waiter(entry: entry, client: client, holder: holder)
    if isUrgent { urgent.append(waiter) } else { patient.append(waiter) }
  }

  /// What is to be started now, which takes a place; `nil`: there is none, or nothing waits that may have it.
  /// - Parameter isWaiting: whether an entry still waits here; what does not is dropped, and takes no turn.
  mutating func start(where isWaiting: (Entry) -> Bool) -> (entry: Entry, holder: PlaceHolder)? {
    guard running < limit else { return nil }
    if urgentInARow >= Self.turn - 1, let waiter = patient.popFirst(shares, where: isWaiting) {
      urgentInARow = 0
      return begin(waiter)
    }
    let found = urgent.popFirst(shares, where: isWaiting)
    // Where nobody else waits, no turn is owed.
    urgentInARow = found == nil || patient.isEmpty ? 0 : urgentInARow + 1
    return (found ?? patient.popFirst(shares, where: isWaiting)).map { begin($0) }
  }

  private mutating func begin(_ waiter: ShareLine<Entry>.Waiter) -> (entry: Entry, holder: PlaceHolder) {
    running += 1
    shares.take(waiter.holder)
    return (waiter.entry, waiter.holder)
  }

  /// A delivery is over, or could not be begun.
  /// - Parameter isQuick: it had its place for a short time only.
  mutating func ended(_ holder: PlaceHolder = .nobody, isQuick: Bool = false) {
    running -= 1
    shares.giveBack(holder, isQuick: isQuick)
  }

  /// Forgets what nobody waits for.
  mutating func dropPatient() { patient = ShareLine() }
}

/// Those that wait, and beside them, for each client and path that holds its share, those that would be above it: nobody who may be
/// served stands behind one who may not.
struct ShareLine<Entry> {
  struct Waiter {
    let entry: Entry
    let client: [UInt8]
    let holder: PlaceHolder
  }

  private var ready = FairLine<Waiter>()
  /// None of them is empty.
  private var heldBack: [PlaceShares.Account: FairLine<Waiter>] = [:]
  /// What was above a share and no longer is takes turns with all others.
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
      // Nothing was left in it that still waits.
      if heldBack[account]?.isEmpty == true { heldBack[account] = nil }
    }
    return nil
  }
}

/// Those that wait, of each client first in, first out; clients take turns.
struct FairLine<Entry> {
  private var lines: [[UInt8]: Deque<Entry>] = [:]
  /// Clients that have something here, each once.
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
