import PawlLoop

/// Limits the log lines about misbehaving peers to ``lines`` in each ``stretch`` of time; further lines are only counted.
struct EventBudget: Sendable {
  /// The most lines of one kind in a stretch.
  static let lines = 20
  static let stretch = Duration.seconds(10)

  enum Verdict: Hashable, Sendable {
    /// Write the line; `left` lines were left out since the last written line.
    case say(left: Int)
    case leaveOut
  }

  private var began: Monotonic?
  private var said = 0
  private var left = 0

  mutating func ask(at now: Monotonic) -> Verdict {
    if let began, now - began < Self.stretch {
      guard said < Self.lines else {
        left += 1
        return .leaveOut
      }
    } else {
      (began, said) = (now, 0)
    }
    said += 1
    defer { left = 0 }
    return .say(left: left)
  }
}
