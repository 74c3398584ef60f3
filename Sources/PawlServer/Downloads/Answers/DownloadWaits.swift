import PawlLoop

/// Whether a request still waits for what others ask of the origin. What comes of that may be the other's own: then all who waited look
/// once more, and one of them asks.
enum Collapsing: Hashable, CaseIterable {
  case mayWait, hasWaited
  /// It asks for itself.
  case goesAlone

  /// The answer was another's own.
  mutating func cameToNothing() { self = self == .mayWait ? .hasWaited : .goesAlone }
  /// It took too long.
  mutating func gaveUp() { self = .goesAlone }
}

/// How long a request waits for the right to a part: for a total, or for a proof.
enum Patience {
  case unlimited
  case running(LoopTimer)
  /// No range, no proof: the whole body from byte 0.
  case over

  var isOver: Bool { if case .over = self { true } else { false } }

  /// Where nothing runs yet.
  mutating func begin(_ timer: () -> LoopTimer) {
    if case .unlimited = self { self = .running(timer()) }
  }

  mutating func end() {
    close()
    self = .over
  }

  func close() { if case .running(let timer) = self { timer.close() } }
}
