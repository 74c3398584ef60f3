import PawlBase
package import PawlHTTP
package import PawlLoop
package import PawlTLS

/// The state of an origin that all loops share: the connection limit with its queue, the rotation and the health of its nodes. Safe
/// on any thread; a lock is held for an update only.
package final class Upstream: Sendable {
  package let settings: UpstreamSettings
  let resolver: Resolver
  private let report: (@Sendable (ProxyError) -> Void)?
  private let news: (@Sendable (NodeNews) -> Void)?
  private let trouble: (@Sendable (OriginTrouble) -> Void)?
  private let serverErrors: (@Sendable (ServerErrorNews) -> Void)?
  /// For each URL the number of server errors since its last other response.
  private let errorStreaks: [AtomicWord]
  /// Whether there is a choice between nodes.
  let hasSeveralNodes: Bool
  /// Not 0 from the first failure of a node until a response of a node that is well. It is changed under the lock.
  let isWatched = AtomicWord(0)
  private let shared: Locked<Shared>

  private struct Shared {
    var tls: TLSClientContext?
    var limit: ConnectionLimit
    var live: LiveLimit
    var rotation: NodeRotation
    var pools: [PoolLink] = []
  }

  /// The link through which other loops reach a pool.
  private struct PoolLink: Sendable {
    var loop: EventLoop
    var pool: LoopBound<PoolReference>
  }

  /// - Parameters:
  ///   - tls: the TLS settings for URLs that have a `serverName`; without them connections to these URLs fail.
  ///   - report: called for each TLS handshake that failed, also if the next address or URL is tried then; on any loop.
  ///   - news: called for each node that stops working or works again; on any loop.
  ///   - trouble: called for each failure of a request, also if it is tried again then; on any loop.
  ///   - serverErrors: called when a node has answered ``ServerErrorNews/streak`` requests in a row with a 5xx, and when that ends;
  ///     on any loop.
  package init(
    _ settings: UpstreamSettings, resolver: Resolver, tls: TLSClientContext? = nil,
    report: (@Sendable (ProxyError) -> Void)? = nil, news: (@Sendable (NodeNews) -> Void)? = nil,
    trouble: (@Sendable (OriginTrouble) -> Void)? = nil, serverErrors: (@Sendable (ServerErrorNews) -> Void)? = nil
  ) {
    (self.settings, self.resolver, self.report, self.news) = (settings, resolver, report, news)
    (self.trouble, self.serverErrors) = (trouble, serverErrors)
    errorStreaks = settings.urls.map { _ in AtomicWord(0) }
    hasSeveralNodes = settings.urls.count > 1
    shared = Locked(
      Shared(
        tls: tls,
        limit: ConnectionLimit(
          limit: settings.maxConnections, clientShare: settings.clientShare, pathShare: settings.pathShare),
        live: LiveLimit(limit: settings.maxLiveConnections, clientShare: settings.clientShare),
        rotation: NodeRotation(settings.urls, settings.nodes)))
  }

  package var id: ObjectIdentifier { ObjectIdentifier(self) }

  /// Requests that wait for a connection, over all loops.
  package var waitingCount: Int { shared.withLock { $0.limit.waitingCount } }
  /// Connections that count against `max-connections`, idle ones included.
  package var connectionCount: Int { shared.withLock { $0.limit.count } }

  /// Whether requests wait for a place, or running exchanges hold at least three quarters of the places.
  package var isCrowded: Bool { shared.withLock { $0.limit.isCrowded } }

  /// The TLS settings for new connections.
  var tls: TLSClientContext? { shared.withLock { $0.tls } }

  /// Replaces the TLS settings for new connections. Present connections keep theirs.
  package func replaceTLS(_ context: TLSClientContext) { shared.withLock { $0.tls = context } }

  /// Takes over the health of the nodes that `old` has, too. Called before this upstream is used.
  package func adoptHealth(of old: Upstream) {
    let rotation = old.shared.withLock { $0.rotation }
    shared.withLock {
      $0.rotation.adopt(rotation)
      isWatched.store(1)
    }
  }

  func handshakeFailed(_ error: ProxyError) { report?(error) }

  func tell(_ trouble: OriginTrouble?) { if let trouble { self.trouble?(trouble) } }

  /// Counts a final response of a node. Costs one look at a counter, unless there are server errors.
  func count(status: Int, of node: Int) {
    let streak = errorStreaks[node]
    if status >= 500 {
      let count = streak.add(1)
      guard count == ServerErrorNews.streak else { return }
      serverErrors?(ServerErrorNews(url: node, status: status, count: count, isOver: false))
    } else if streak.load() > 0 {
      let count = streak.exchange(0)
      guard count >= ServerErrorNews.streak else { return }
      serverErrors?(ServerErrorNews(url: node, status: status, count: count, isOver: true))
    }
  }

  func register(_ pool: OriginPool) -> ConnectionLimit.PoolID {
    let link = PoolLink(loop: pool.loop, pool: LoopBound(pool.reference, on: pool.loop))
    return shared.withLock { shared in
      shared.pools.append(link)
      return shared.pools.count - 1
    }
  }

  // MARK: The limit

  /// Changes the state of the limit, and sends the actions for other pools to their loops. Returns the result of `change`, and the
  /// places that `pool` itself is granted.
  func update<R>(
    for pool: ConnectionLimit.PoolID, _ change: (inout ConnectionLimit) -> (R, [ConnectionLimit.Action])
  ) -> (R, [ConnectionLimit.Action]) {
    let (result, actions, links) = shared.withLock { shared in
      let (result, actions) = change(&shared.limit)
      return (result, actions, actions.isEmpty ? [] : shared.pools)
    }
    var own: [ConnectionLimit.Action] = []
    for action in actions {
      switch action {
      case .grant(let waiter, let usingIdle):
        if waiter.pool == pool {
          own.append(action)
        } else {
          precondition(!usingIdle, "an idle connection is granted on its own loop only")
          send(to: links[waiter.pool]) { $0.granted(waiter, usingIdle: false) }
        }
      case .wake(let id): send(to: links[id]) { $0.look() }
      }
    }
    return (result, own)
  }

  /// Takes an idle connection of the pool if no request waits. This is the short form, for the usual case, of
  /// ``ConnectionLimit/enter(_:use:prefersIdle:for:)``.
  func takeIdle(of pool: ConnectionLimit.PoolID, for use: OriginUse, _ holder: PlaceHolder) -> Bool {
    shared.withLock { $0.limit.takeIdle(of: pool, for: use, holder) }
  }

  /// Gives a place back if no request waits: the short form of ``ConnectionLimit/ended(_:use:staysIdle:_:isQuick:)``. `false`:
  /// requests wait, and nothing was done.
  func endedUnawaited(_ pool: ConnectionLimit.PoolID, _ place: OriginPlace, staysIdle: Bool) -> Bool {
    shared.withLock {
      $0.limit.endedUnawaited(pool, use: place.use, staysIdle: staysIdle, place.holder, isQuick: place.isQuick)
    }
  }

  /// Counts an event stream or a tunnel that begins; `false`: there are too many.
  func takeLive(_ holder: PlaceHolder) -> Bool { shared.withLock { $0.live.take(holder) } }
  func giveBackLive(_ holder: PlaceHolder) { shared.withLock { $0.live.giveBack(holder) } }
  /// The number of event streams and tunnels, over all loops.
  package var liveCount: Int { shared.withLock { $0.live.count } }

  /// Reads or changes the state of the nodes, under the lock.
  func withRotation<R: Sendable>(_ work: (inout NodeRotation) -> R) -> R { shared.withLock { work(&$0.rotation) } }

  func tell(_ change: NodeRotation.Change?, of node: Int, _ why: () -> String) {
    guard let change else { return }
    news?(NodeNews(url: node, isUp: change == .up, why: why()))
  }

  private func send(to link: PoolLink, _ work: @escaping @Sendable (OriginPool) -> Void) {
    link.loop.run {
      guard let pool = link.pool.get().pool else { return }
      work(pool)
    }
  }
}
