package import PawlLoop
package import PawlObserve

/// The connections of one loop to an upstream: idle ones, and those of running exchanges. Used on its loop only.
package final class OriginPool {
  package let upstream: Upstream
  package let loop: EventLoop
  /// What the loop counts for this upstream.
  package let counters: UpstreamCounters
  private var id: ConnectionLimit.PoolID = -1
  /// The reference through which the upstream reaches this pool.
  let reference = PoolReference()
  /// The idle connections, in the order in which they became idle.
  @exclusivity(unchecked) private var idle: [OriginConnection] = []
  private var queued: [ConnectionLimit.Ticket: OriginExchange] = [:]
  private lazy var sweep: LoopTimer = loop.makeTimer { [unowned self] in closeExpired() }

  /// Makes the pool for one loop and one upstream; each such pair has one pool. Call it on the loop, or before the loop runs.
  package init(upstream: Upstream, loop: EventLoop, counters: UpstreamCounters = UpstreamCounters()) {
    (self.upstream, self.loop, self.counters) = (upstream, loop, counters)
    reference.pool = self
    id = upstream.register(self)
  }

  deinit {
    reference.pool = nil
    for connection in idle { connection.stream.close() }
    let count = idle.count
    _ = upstream.update(for: id) { ((), $0.idleClosed(id, count: count)) }
  }

  /// Begins an exchange. The delegate is called only after this has returned.
  package func start(_ request: consuming OriginRequest, delegate: any OriginExchangeDelegate) -> OriginExchange {
    loop.preconditionOnLoop()
    let exchange = prepare(request, delegate: delegate)
    loop.nextTurn { exchange.begin() }
    return exchange
  }

  /// Makes an exchange that the caller begins itself, by ``OriginExchange/begin()``, when its delegate may be called.
  package func prepare(_ request: consuming OriginRequest, delegate: any OriginExchangeDelegate) -> OriginExchange {
    loop.preconditionOnLoop()
    return OriginExchange(request, pool: self, delegate: delegate)
  }

  /// Closes all idle connections, for example at a shutdown.
  package func closeIdle() { close(idle.count) }

  package var idleCount: Int { idle.count }

  // MARK: For exchanges

  /// Asks for a place. When the place is granted, perhaps before this returns, ``OriginExchange/granted(_:)`` is called.
  func enter(_ exchange: OriginExchange) {
    let prefersIdle = !exchange.request.wantsFreshConnection && idle.contains { $0.url == exchange.preferredURL }
    let (use, holder) = (exchange.request.use, exchange.request.holder)
    if prefersIdle, upstream.takeIdle(of: id, for: use, holder) {
      return exchange.granted(takeIdle(preferring: exchange.preferredURL))
    }
    let (ticket, actions) = upstream.update(for: id) { limit in
      let (ticket, actions) = limit.enter(id, use: use, prefersIdle: prefersIdle, for: holder)
      return (ticket, actions)
    }
    queued[ticket] = exchange
    exchange.queued(ticket)
    perform(actions)
  }

  /// Ends the wait of an exchange. If its place is granted already, ``granted(_:usingIdle:)`` gives the place back.
  @discardableResult
  func leave(_ ticket: ConnectionLimit.Ticket) -> Bool {
    queued[ticket] = nil
    return upstream.update(for: id) { ($0.leave(ticket), []) }.0
  }

  /// Gives back the place of an exchange that has ended. `connection` becomes idle if it is usable, else it is closed.
  func ended(_ place: OriginPlace, reusable connection: OriginConnection?) {
    let kept = connection.flatMap { $0.isUsable(at: loop.now) ? $0 : nil }
    if let kept {
      kept.becomeIdle(in: self, at: loop.now)
      idle.append(kept)
      if !sweep.isScheduled { sweep.schedule(after: upstream.settings.keepalive) }
    } else {
      connection?.stream.close()
    }
    if upstream.endedUnawaited(id, place, staysIdle: kept != nil) { return }
    perform(
      upstream.update(for: id) {
        ((), $0.ended(id, use: place.use, staysIdle: kept != nil, place.holder, isQuick: place.isQuick))
      }.1)
  }

  // MARK: For the limit

  func granted(_ waiter: ConnectionLimit.Waiter, usingIdle: Bool) {
    let exchange = queued.removeValue(forKey: waiter.ticket)
    let connection = usingIdle ? takeIdle(preferring: exchange?.preferredURL) : nil
    guard let exchange else {
      return ended(OriginPlace(use: waiter.use, holder: waiter.holder, isQuick: false), reusable: connection)
    }
    exchange.granted(connection.flatMap { suits($0, exchange) ? $0 : nil })
  }

  /// Whether the exchange may use this idle connection. It may lead to another node than the chosen one, if no connection to the
  /// chosen node is idle. Closes the connection if the exchange may not use it.
  private func suits(_ connection: OriginConnection, _ exchange: OriginExchange) -> Bool {
    let node = exchange.preferredURL
    if connection.url == node { return true }
    if exchange.request.preferredURL == nil, upstream.mayStandIn(connection.url, for: node, at: loop.now) {
      return true
    }
    connection.stream.close()
    return false
  }

  /// Closes idle connections whose places another loop needs, and takes the places that this pool is granted.
  func look() {
    let (toClose, actions) = upstream.update(for: id) { limit in
      let (toClose, actions) = limit.look(id)
      return (toClose, actions)
    }
    perform(actions)
    close(min(toClose, idle.count))
  }

  private func perform(_ actions: [ConnectionLimit.Action]) {
    for case .grant(let waiter, let usingIdle) in actions { granted(waiter, usingIdle: usingIdle) }
  }

  // MARK: Idle connections

  private func takeIdle(preferring url: Int?) -> OriginConnection? {
    guard let index = idle.lastIndex(where: { $0.url == url }) else { return idle.popLast() }
    return idle.remove(at: index)
  }

  func idleBroke(_ connection: OriginConnection) {
    guard let index = idle.firstIndex(where: { $0 === connection }) else { return }
    idle.remove(at: index)
    connection.stream.close()
    perform(upstream.update(for: id) { ((), $0.idleClosed(id, count: 1)) }.1)
  }

  /// Closes the connections that have been idle for the longest time.
  private func close(_ count: Int) {
    guard count > 0 else { return }
    for connection in idle.prefix(count) { connection.stream.close() }
    idle.removeFirst(count)
    perform(upstream.update(for: id) { ((), $0.idleClosed(id, count: count)) }.1)
  }

  private func closeExpired() {
    let limit = upstream.settings.keepalive
    close(idle.prefix { loop.now - $0.idleSince >= limit }.count)
    guard let oldest = idle.first else { return }
    sweep.schedule(after: limit - (loop.now - oldest.idleSince))
  }
}

/// A place that is given back.
struct OriginPlace {
  var use: OriginUse
  var holder: PlaceHolder
  /// Whether it was held for less than ``PlaceShares/quick``.
  var isQuick: Bool
}

/// A reference of the upstream to a pool, empty after the pool is deallocated. Used on the pool's loop only. A weak reference
/// instead of it would make every use of the pool slower.
final class PoolReference {
  // Safe: the pool sets this to `nil` in its `deinit`.
  unowned(unsafe) var pool: OriginPool?
}
