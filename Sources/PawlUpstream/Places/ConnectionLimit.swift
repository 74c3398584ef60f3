/// What an origin connection is wanted for.
package enum OriginUse: Hashable, Sendable {
  /// A client waits for exactly this answer.
  case passThrough
  /// A body is fetched for the cache: fills take at most half of `max-connections`.
  case fill
  /// The request's content is still on its way from the client: those take at most half, too, all together.
  case upload
}

/// How many connections an upstream has over all loops, and who is next. Pure: answers with what is to be done.
///
/// A place is held by a running exchange, by an idle connection and by a connection on its way to be closed.
/// Requests are served in the order they came; only what is above its share lets others pass: fills, requests whose content is
/// not here yet, and those of a client or for a path that holds its share of the places already.
package struct ConnectionLimit: Hashable, Sendable {
  package typealias Ticket = UInt64
  /// One loop's pool.
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
    /// The request may connect anew; with `usingIdle` it takes an idle connection of its pool, at once:
    /// said only to the pool that asked.
    case grant(Waiter, usingIdle: Bool)
    /// The pool is to call ``look(_:)`` on its loop.
    case wake(PoolID)
  }

  private struct Pool: Hashable {
    var idle = 0
    /// Of the idle ones: asked to be closed.
    var closing = 0
    var isAwake = false
    var spare: Int { idle - closing }
  }

  /// By identifier: the upstream counts them from 0.
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

  /// 0: no limit.
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
  ///   - pathShare: percent of them that requests for one path may hold while its answers take long.
  package init(limit: Int, clientShare: Int = 100, pathShare: Int = 100) {
    self.limit = limit
    shares = PlaceShares(limit: limit, clientShare: clientShare, pathShare: pathShare)
  }

  package var waitingCount: Int { waiting.count }
  /// Whether somebody waits, or exchanges run in three quarters of the places and more.
  package var isCrowded: Bool { waitingCount > 0 || limit > 0 && running * 4 >= limit * 3 }
  /// Places held.
  package var count: Int { running + idle }

  /// A request of `pool` wants a connection. It waits unless the actions grant its ticket.
  package mutating func enter(
    _ pool: PoolID, use: OriginUse, prefersIdle: Bool, for holder: PlaceHolder = .nobody
  ) -> (ticket: Ticket, actions: [Action]) {
    lastTicket += 1
    waiting.append(Waiter(ticket: lastTicket, pool: pool, use: use, prefersIdle: prefersIdle, holder: holder))
    return (lastTicket, serve(pool))
  }

  /// As ``enter(_:use:prefersIdle:)`` of a request that suits an idle connection of its pool, where it gets one at once and
  /// nobody waits. `false`: nothing was done.
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

  /// As ``ended(_:use:staysIdle:)``, where nobody waits. `false`: nothing was done.
  package mutating func endedUnawaited(
    _ pool: PoolID, use: OriginUse, staysIdle: Bool, _ holder: PlaceHolder = .nobody, isQuick: Bool = false
  ) -> Bool {
    guard waitingCount == 0 else { return false }
    _ = ended(pool, use: use, staysIdle: staysIdle, holder, isQuick: isQuick)
    return true
  }

  /// A request stops waiting. `false`: it waits no more, its grant is on its way.
  package mutating func leave(_ ticket: Ticket) -> Bool { waiting.remove(ticket) }

  /// An exchange has ended; its connection stays as an idle one or is closed already.
  /// - Parameter isQuick: it had its place for a short time only.
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

  /// Idle connections of the pool are closed: too old, closed by the origin, or asked for by ``look(_:)``.
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

  /// A woken pool looks: how many idle connections it must close now (and then report), and what it is granted.
  package mutating func look(_ pool: PoolID) -> (toClose: Int, actions: [Action]) {
    pools[pool].isAwake = false
    return (pools[pool].closing, serve(pool))
  }

  /// What fills may have together, and what uploads may.
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

  /// Has idle connections closed, one for each request that could use its place.
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
