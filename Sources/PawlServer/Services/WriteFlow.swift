/// The state of content that is written to a file piece by piece. The loop writes each piece at once; where that would hold it up
/// (``SlowWrites``), the pool does, one piece at a time, and the next pieces and the end wait.
///
/// Pure. For fills, uploads and requests that are spooled.
enum WriteFlow<End> {
  case open
  /// No more for now: the file's readers or the disk are behind.
  case held
  /// The pool writes a piece. The associated values apply once it is written.
  case writing(isHeld: Bool, End?)

  /// The next step once the pool has written a piece.
  enum Next {
    case goOn
    /// The content has ended meanwhile.
    case end(End)
    /// The pool had no piece.
    case impossible
  }

  var isWriting: Bool { if case .writing = self { true } else { false } }

  var isHeld: Bool {
    switch self {
    case .open, .writing(isHeld: false, _): false
    case .held, .writing(isHeld: true, _): true
    }
  }

  /// A piece is given to the pool.
  /// - Returns: `false` where the pool has one already.
  mutating func writes() -> Bool {
    guard !isWriting else { return false }
    self = .writing(isHeld: isHeld, nil)
    return true
  }

  /// The pool has written its piece, or failed to.
  mutating func written() -> Next {
    guard case .writing(let isHeld, let end) = self else { return .impossible }
    self = isHeld ? .held : .open
    return end.map(Next.end) ?? .goOn
  }

  /// The content ends.
  /// - Returns: whether its end has to wait for the pool.
  mutating func ends(_ end: End) -> Bool {
    guard case .writing(let isHeld, _) = self else { return false }
    self = .writing(isHeld: isHeld, end)
    return true
  }

  /// No more is to come for now, behind the piece that was just written.
  /// - Returns: `false` where the pool still writes one.
  mutating func holds() -> Bool {
    guard !isWriting else { return false }
    self = .held
    return true
  }

  /// The readers or the disk have caught up.
  /// - Returns: whether more may come now that could not before.
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
