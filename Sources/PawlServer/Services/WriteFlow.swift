/// Whether more may come of content that is written to a file piece by piece. A loop writes each at once, but where that would hold it up
/// (``SlowWrites``) the pool does, one at a time: then what comes meanwhile waits, its end too. Pure. Of fills, uploads and requests
/// that are spooled.
enum WriteFlow<End> {
  case open
  /// No more for now: who reads the file, or the disk, is behind.
  case held
  /// A piece is with the pool. What is there besides holds when it is written.
  case writing(isHeld: Bool, End?)

  /// What follows when the pool is done with a piece.
  enum Next {
    case goOn
    /// The content came to its end meanwhile.
    case end(End)
    /// None was with the pool.
    case impossible
  }

  var isWriting: Bool { if case .writing = self { true } else { false } }

  var isHeld: Bool {
    switch self {
    case .open, .writing(isHeld: false, _): false
    case .held, .writing(isHeld: true, _): true
    }
  }

  /// A piece goes to the pool.
  /// - Returns: `false`: it cannot, behind another one.
  mutating func writes() -> Bool {
    guard !isWriting else { return false }
    self = .writing(isHeld: isHeld, nil)
    return true
  }

  /// The pool has written it, or could not.
  mutating func written() -> Next {
    guard case .writing(let isHeld, let end) = self else { return .impossible }
    self = isHeld ? .held : .open
    return end.map(Next.end) ?? .goOn
  }

  /// - Returns: whether the end has to wait.
  mutating func ends(_ end: End) -> Bool {
    guard case .writing(let isHeld, _) = self else { return false }
    self = .writing(isHeld: isHeld, end)
    return true
  }

  /// Behind what was just written no more is to come for now.
  /// - Returns: `false`: nothing was, a piece is with the pool.
  mutating func holds() -> Bool {
    guard !isWriting else { return false }
    self = .held
    return true
  }

  /// Who was behind has caught up.
  /// - Returns: whether more may come now that might not.
  mutating func releases() -> Bool {
    switch self {
    case .open, .writing(isHeld: false, _): return false
    case .held: self = .open
    case .writing(isHeld: true, let end):
      self = .writing(isHeld: false, end)
      return false
    }
    return true
  }
}

extension WriteFlow: Equatable where End: Equatable {}
extension WriteFlow.Next: Equatable where End: Equatable {}
