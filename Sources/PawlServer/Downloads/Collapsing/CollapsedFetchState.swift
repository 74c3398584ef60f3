/// The state of a collapsed fetch. While the fetch is asking, its resource stays in the index. Pure.
enum CollapsedFetchState: Hashable, CaseIterable {
  case asking
  /// All waiting requests have the outcome.
  case concluded
  /// The server ends: no request gets an outcome.
  case stopped

  enum Action: Hashable {
    /// The resource no longer stays in the index for this fetch.
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
