/// The state of content that is written to a file piece by piece. The loop writes each piece at once. If that would delay the
/// loop (``SlowWrites``), the pool writes one piece at a time, and the next pieces and the end wait.
///
/// Only keeps the state; its users act on it. Used for fills, uploads and requests that are spooled.
enum WriteFlow<End> {
  case open
  /// No more content for now: the file's readers or the disk have to catch up.
  case held
  /// The pool writes a piece. The associated values apply once the piece is written.
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

  /// Notes that a piece is given to the pool.
  /// - Returns: `false` if the pool has one already.
  mutating func writes() -> Bool {
    guard !isWriting else { return false }
    self = .writing(isHeld: isHeld, nil)
    return true
  }

  /// Notes that the pool has written its piece, or has failed to write it.
  mutating func written() -> Next {
    guard case .writing(let isHeld, let end) = self else { return .impossible }
    self = isHeld ? .held : .open
    return end.map(Next.end) ?? .goOn
  }

  /// Notes that the content ends.
  /// - Returns: whether its end has to wait for the pool.
  mutating func ends(_ end: End) -> Bool {
    guard case .writing(let isHeld, _) = self else { return false }
    self = .writing(isHeld: isHeld, end)
    return true
  }

  /// Notes that no more may come for now, after the piece that was just written.
  /// - Returns: `false` if the pool still writes a piece.
  mutating func holds() -> Bool {
    guard !isWriting else { return false }
    self = .held
    return true
  }

  /// Notes that the readers or the disk have caught up.
  /// - Returns: whether more content may come now, which was not allowed before.
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
