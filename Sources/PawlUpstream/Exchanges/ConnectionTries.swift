/// Limits the retries of one exchange: at most one on a new connection (RFC 9112 §9.3.1), and at most one move to another node.
/// Also remembers whether the delegate was told of a connection, because the delegate is told of the first connection only. Pure
/// state; ``OriginExchange`` acts on it.
struct ConnectionTries {
  enum Head: Hashable, CaseIterable {
    /// There was no connection yet; the delegate was not told of one.
    case unannounced
    /// The delegate was told of the connection, and has not released the head yet (``OriginRequest/holdsHead``).
    case held
    /// The head is sent first on every connection.
    case free
  }

  enum Retry: Hashable, CaseIterable {
    case unused
    /// The retry was used; no byte of the request had been sent on the connection that was lost.
    case usedUnsent
    /// Bytes of the request had been sent on a connection that was lost, so the origin may have processed them.
    case usedSent
  }

  /// What to do with a new connection.
  struct Connected: Hashable {
    /// Whether the head is sent now.
    let sendsHead: Bool
    /// Whether it is the first connection, of which the delegate is told.
    let isFirst: Bool
  }

  private(set) var head = Head.unannounced
  private(set) var retry = Retry.unused
  private var wentElsewhere = false

  /// - Parameter holdsHead: the value of ``OriginRequest/holdsHead``.
  mutating func connected(holdsHead: Bool) -> Connected {
    switch head {
    case .unannounced:
      head = holdsHead ? .held : .free
      return Connected(sendsHead: !holdsHead, isFirst: true)
    case .held: return Connected(sendsHead: false, isFirst: false)
    case .free: return Connected(sendsHead: true, isFirst: false)
    }
  }

  /// Releases the head. `false`: none was held back.
  mutating func releaseHead() -> Bool {
    guard head == .held else { return false }
    head = .free
    return true
  }

  /// Begins a retry on a new connection, after a reused one was lost (RFC 9112 §9.3.1).
  /// - Returns: `false` if such a retry was made before.
  mutating func begin(retryHavingSent hasSent: Bool) -> Bool {
    guard retry == .unused else { return false }
    retry = hasSent ? .usedSent : .usedUnsent
    return true
  }

  /// Begins a retry at another node, after a new connection was lost.
  /// - Returns: `false` if such a retry was made before.
  mutating func begin(elsewhereHavingSent hasSent: Bool) -> Bool {
    guard !wentElsewhere else { return false }
    wentElsewhere = true
    if hasSent { retry = .usedSent }
    return true
  }
}
