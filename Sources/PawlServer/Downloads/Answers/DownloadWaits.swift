import PawlLoop

/// Whether a request may wait for the response to another request (request collapsing). That response may turn out to be for its leader
/// alone. Then all waiting requests look up the resource once more, and one of them asks the origin.
enum Collapsing: Hashable, CaseIterable {
  case mayWait, hasWaited
  /// This request is sent to the origin, and does not wait for another one.
  case goesAlone

  /// Notes that the response was for its leader alone.
  mutating func cameToNothing() { self = self == .mayWait ? .hasWaited : .goesAlone }
  /// Notes that this request does not wait any more.
  mutating func gaveUp() { self = .goesAlone }
}

/// The limit of the time that a range request waits until a part can be given: for a total length, or for a proof.
enum Patience {
  case unlimited
  case running(LoopTimer)
  /// The time is over: the client gets the complete body from byte 0.
  case over

  var isOver: Bool { if case .over = self { true } else { false } }

  /// Starts the timer, unless one runs or the time is over.
  mutating func begin(_ timer: () -> LoopTimer) {
    if case .unlimited = self { self = .running(timer()) }
  }

  mutating func end() {
    close()
    self = .over
  }

  func close() { if case .running(let timer) = self { timer.close() } }
}
