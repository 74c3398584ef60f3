import PawlLoop

/// Keeps a log readable when peers misbehave by the thousand: so many lines in each stretch of time, then a count of what
/// was left out.
struct EventBudget: Sendable {
  /// Lines of one kind that a stretch may have.
  static let lines = 20
  static let stretch = Duration.seconds(10)

  enum Verdict: Hashable, Sendable {
    /// To be said; so many others were not, since the last line.
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
