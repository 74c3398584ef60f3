/// How many connections a listener takes each time it is told that some wait: as many as there were of late. One more that is
/// asked for in vain costs the kernel a third of what a connection costs.
struct AcceptPace: Hashable {
  /// Connections taken in one turn of the loop at most, so that a flood of them does not starve those that exist.
  static let most = 64
  /// Turns in a row with one connection each, after which two are asked for.
  static let patience = 4

  /// Connections to take in the next turn; those that are left after it make the listener ready again at once.
  private(set) var batch = 1
  private var turns = 0

  /// As many were taken as were to be: there may be more.
  mutating func tookAll() {
    turns += 1
    guard batch > 1 || turns >= Self.patience else { return }
    (batch, turns) = (min(batch * 2, Self.most), 0)
  }

  /// There were fewer.
  mutating func foundNone(after count: Int) { (batch, turns) = (max(1, count), 0) }
}
