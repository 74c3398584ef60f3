/// Decides how many connections a listener accepts each time it is ready, by the numbers that it accepted recently. An `accept4`
/// that finds no connection costs a third of one that accepts a connection.
struct AcceptPace: Hashable {
  /// The most connections that are accepted in one turn of the loop, so that a flood of new connections does not starve the
  /// existing ones.
  static let most = 64
  /// After this many successive turns with one connection each, the next turn may accept two connections.
  static let patience = 4

  /// The number of connections to accept in the next turn. If connections are left after that turn, the listener is ready again
  /// at once.
  private(set) var batch = 1
  private var turns = 0

  /// Notes that ``batch`` connections were accepted. Further connections may be waiting.
  mutating func tookAll() {
    turns += 1
    guard batch > 1 || turns >= Self.patience else { return }
    (batch, turns) = (min(batch * 2, Self.most), 0)
  }

  /// Notes that there were only `count` connections.
  mutating func foundNone(after count: Int) { (batch, turns) = (max(1, count), 0) }
}
