/// The purpose of a connection to an origin.
package enum OriginUse: Hashable, Sendable {
  /// A client waits for this response.
  case passThrough
  /// A body is fetched for the cache, or an upload is delivered while no client waits. Such requests together take at most half of
  /// `max-connections`.
  case fill
  /// The content of the request is still on its way from the client. Such requests together take at most half of `max-connections`,
  /// too.
  case upload
}

/// Enforces `max-connections` of an upstream over all loops, with a queue (nginx: `max_conns`). Pure state: the functions return
/// the actions that the caller has to carry out.
///
/// A place is one connection below that limit. A running exchange holds a place, and so does an idle connection until it is closed.
/// Requests get places first come, first served; but a request is skipped while its group has all the places it may hold. Groups
/// are cache fills, requests whose content is still on its way from the client, the requests of one client, and those for one path.
package struct ConnectionLimit: Hashable, Sendable {
  package typealias Ticket = UInt64
  /// The identifier of one loop's pool.
  package typealias PoolID = Int

  package struct Waiter: Hashable, Sendable {
    package var ticket: Ticket
    package var pool: PoolID
    package var use: OriginUse
    /// Whether an idle connection of the pool suits better than a new one.
    package var prefersIdle: Bool
    package var holder = PlaceHolder.nobody
  }

  package enum Action: Hashable, Sendable {
    /// The request has a place for a new connection. With `usingIdle` the request takes an idle connection of its pool at once;
    /// this is granted only to the pool that made the call.
    case grant(Waiter, usingIdle: Bool)
    /// The pool has to call ``look(_:)`` on its loop.
    case wake(PoolID)
  }

  private struct Pool: Hashable {
    var idle = 0
    /// The number of idle connections that the pool was asked to close.
    var closing = 0
    var isAwake = false
    var spare: Int { idle - closing }
  }

  /// All pools. The index is the identifier that the upstream gave to the pool, from 0 on.
  private struct Pools: Hashable {
    private(set) var all: [Pool] = []

    subscript(_ id: PoolID) -> Pool {
      get { id < all.count ? all[id] : Pool() }
      _modify {
        while all.count <= id { all.append(Pool()) }
        yield &all[id]
      }
    }
  }

  /// The number of places; 0: no limit.
  private let limit: Int
  private var pools = Pools()
  private var lastTicket: Ticket = 0
  private var running = 0
  private var runningFills = 0
  private var runningUploads = 0
  private var idle = 0
  private var closing = 0
  private var waiting = PlaceQueue()
  private var shares: PlaceShares

  /// - Parameters:
  ///   - limit: places; 0: no limit.
  ///   - clientShare: percent of them that one client may hold.
  ///   - pathShare: percent of them that requests for one path may hold while the responses for that path take long.
  package init(limit: Int, clientShare: Int = 100, pathShare: Int = 100) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: pathShare)
  }

  package var waitingCount: Int { waiting.count }
  /// Whether requests wait, or running exchanges hold at least three quarters of the places.
  package var isCrowded: Bool { waitingCount > 0 || limit > 0 && running * 4 >= limit * 3 }
  /// The number of places that are held.
  package var count: Int { running + idle }

  /// Adds a request of `pool` that needs a connection. It waits unless the returned actions grant its ticket.
  package mutating func enter(
    _ pool: PoolID, use: OriginUse, prefersIdle: Bool, for holder: PlaceHolder = .nobody
  ) -> (ticket: Ticket, actions: [Action]) {
    lastTicket += 1
    waiting.append(Waiter(ticket: lastTicket, pool: pool, use: use, prefersIdle: prefersIdle, holder: holder))
    return (lastTicket, serve(pool))
  }

  /// Gives a request an idle connection of its pool at once, if no request waits: the short form of
  /// ``enter(_:use:prefersIdle:for:)``. `false`: nothing was done.
  package mutating func takeIdle(of pool: PoolID, for use: OriginUse, _ holder: PlaceHolder = .nobody) -> Bool {
    guard waitingCount == 0, room[use] > 0, pools[pool].spare > 0, shares.full(holder, use) == nil else { return false }
    pools[pool].idle -= 1
    idle -= 1
    begins(use, holder)
    return true
  }

  private mutating func begins(_ use: OriginUse, _ holder: PlaceHolder) {
    running += 1
    shares.take(holder, use)
    switch use {
    case .passThrough: break
    case .fill: runningFills += 1
    case .upload: runningUploads += 1
    }
  }

  /// Does the same as ``ended(_:use:staysIdle:_:isQuick:)``, if no request waits. `false`: nothing was done.
  package mutating func endedUnawaited(
    _ pool: PoolID, use: OriginUse, staysIdle: Bool, _ holder: PlaceHolder = .nobody, isQuick: Bool = false
  ) -> Bool {
    guard waitingCount == 0 else { return false }
    _ = ended(pool, use: use, staysIdle: staysIdle, holder, isQuick: isQuick)
    return true
  }

  /// Removes a waiting request. `false`: it does not wait any more, because it has a place, and the grant is on its way to its
  /// pool.
  package mutating func leave(_ ticket: Ticket) -> Bool { waiting.remove(ticket) }

  /// Ends an exchange. Its connection becomes idle, or is closed already.
  /// - Parameter isQuick: whether it held its place for less than ``PlaceShares/quick``.
  package mutating func ended(
    _ pool: PoolID, use: OriginUse, staysIdle: Bool, _ holder: PlaceHolder = .nobody, isQuick: Bool = false
  ) -> [Action] {
    running -= 1
    shares.giveBack(holder, use, isQuick: isQuick)
    switch use {
    case .passThrough: break
    case .fill: runningFills -= 1
    case .upload: runningUploads -= 1
    }
    if staysIdle {
      pools[pool].idle += 1
      idle += 1
    }
    return serve(pool)
  }

  /// Notes that idle connections of the pool were closed: they were too old, the origin closed them, or ``look(_:)`` asked for it.
  package mutating func idleClosed(_ pool: PoolID, count: Int) -> [Action] {
    var entry = pools[pool]
    let asked = min(entry.closing, count)
    entry.idle -= count
    entry.closing -= asked
    pools[pool] = entry
    idle -= count
    closing -= asked
    return serve(pool)
  }

  /// Returns what a woken pool has to do: how many idle connections to close now (and to report by ``idleClosed(_:count:)``), and
  /// which places the pool is granted.
  package mutating func look(_ pool: PoolID) -> (toClose: Int, actions: [Action]) {
    pools[pool].isAwake = false
    return (pools[pool].closing, serve(pool))
  }

  /// The most places that all fills may hold together, and the most for all uploads.
  private var half: Int { limit == 0 ? .max : max(1, limit / 2) }

  private var room: PlaceQueue.Room {
    PlaceQueue.Room(fills: max(0, half - runningFills), uploads: max(0, half - runningUploads))
  }

  private mutating func serve(_ caller: PoolID) -> [Action] {
    var actions: [Action] = []
    while let waiter = waiting.next(shares, room) {
      let hasRoom = limit == 0 || count < limit
      let spare = pools[waiter.pool].spare
      if spare > 0, waiter.prefersIdle || !hasRoom {
        guard waiter.pool == caller else {
          wake(waiter.pool, &actions)
          return actions
        }
        pools[caller].idle -= 1
        idle -= 1
        start(waiter, usingIdle: true, &actions)
      } else if hasRoom {
        start(waiter, usingIdle: false, &actions)
      } else {
        makeRoom(&actions)
        return actions
      }
    }
    return actions
  }

  private mutating func start(_ waiter: Waiter, usingIdle: Bool, _ actions: inout [Action]) {
    begins(waiter.use, waiter.holder)
    waiting.removeNext()
    actions.append(.grant(waiter, usingIdle: usingIdle))
  }

  /// Asks pools to close idle connections, one for each waiting request that could use the place.
  private mutating func makeRoom(_ actions: inout [Action]) {
    var wanted = waiting.servable(shares, room) - closing
    guard wanted > 0, idle > closing else { return }
    let mostFirst = pools.all.enumerated().sorted { $0.element.spare > $1.element.spare }
    for (id, pool) in mostFirst where wanted > 0 && pool.spare > 0 {
      let asked = min(wanted, pool.spare)
      pools[id].closing += asked
      closing += asked
      wanted -= asked
      wake(id, &actions)
    }
  }

  private mutating func wake(_ pool: PoolID, _ actions: inout [Action]) {
    guard !pools[pool].isAwake else { return }
    pools[pool].isAwake = true
    actions.append(.wake(pool))
  }
}
