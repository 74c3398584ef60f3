/// What an exchange has tried and told: a connection at most twice, then another node once, and its delegate of the first alone. Pure;
/// ``OriginExchange`` does what follows.
struct ConnectionTries {
  enum Head: Hashable, CaseIterable {
    /// No connection has been there yet; the delegate knows of none.
    case unannounced
    /// The delegate knows of the connection, and the head waits for it (``OriginRequest/holdsHead``).
    case held
    /// It goes out first on whatever connection there is.
    case free
  }

  enum Retry: Hashable, CaseIterable {
    case unused
    /// Nothing had gone over the connection before.
    case usedUnsent
    /// The origin may have seen some of the request on the connection before.
    case usedSent
  }

  /// What a connection that is there means.
  struct Connected: Hashable {
    /// Whether the head goes out now.
    let sendsHead: Bool
    /// Whether the delegate is to hear of it.
    let isFirst: Bool
  }

  private(set) var head = Head.unannounced
  private(set) var retry = Retry.unused
  private var wentElsewhere = false

  /// - Parameter holdsHead: ``OriginRequest/holdsHead``.
  mutating func connected(holdsHead: Bool) -> Connected {
    switch head {
    case .unannounced:
      head = holdsHead ? .held : .free
      return Connected(sendsHead: !holdsHead, isFirst: true)
    case .held: return Connected(sendsHead: false, isFirst: false)
    case .free: return Connected(sendsHead: true, isFirst: false)
    }
  }

  /// `false` where none is held back.
  mutating func releaseHead() -> Bool {
    guard head == .held else { return false }
    head = .free
    return true
  }

  /// The connection was lost; one more is tried (RFC 9112 §9.3.1).
  /// - Returns: `false` where that was done before.
  mutating func begin(retryHavingSent hasSent: Bool) -> Bool {
    guard retry == .unused else { return false }
    retry = hasSent ? .usedSent : .usedUnsent
    return true
  }

  /// The connection was lost, and was a new one; another node is tried.
  /// - Returns: `false` where that was done before.
  mutating func begin(elsewhereHavingSent hasSent: Bool) -> Bool {
    guard !wentElsewhere else { return false }
    wentElsewhere = true
    if hasSent { retry = .usedSent }
    return true
  }
}
