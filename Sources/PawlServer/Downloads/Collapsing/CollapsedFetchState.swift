/// Where a collapsed fetch is. While it is asking it counts among those that its resource stays in the index for. Pure.
enum CollapsedFetchState: Hashable, CaseIterable {
  case asking
  /// All have been told what came of it.
  case concluded
  /// The server ends: nobody is told.
  case stopped

  enum Action: Hashable {
    /// It counts no longer.
    case leave
    case nothing
  }

  mutating func concludes() -> Action {
    let action: Action = self == .asking ? .leave : .nothing
    self = .concluded
    return action
  }

  mutating func stops() -> Action {
    guard self == .asking else { return .nothing }
    self = .stopped
    return .leave
  }
}
