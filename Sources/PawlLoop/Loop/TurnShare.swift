/// Decides how much of a turn one busy connection may use. If no other socket is ready, the connection may use the complete turn.
/// The turn is divided by the number of ready sockets, so that small responses do not wait for large bodies.
package struct TurnShare: Sendable {
  /// The smallest share is one divided by this number. With smaller shares, additional system calls would cost more time than the
  /// shorter waits save.
  package static let leastPart = 8

  /// The number of sockets that were ready in this turn so far (``ready``), and a recent maximum of earlier turns (``before``).
  /// The maximum decays over about twenty turns, because clients that wait for their responses are ready in some turns and not in
  /// others.
  private var ready = 0
  private var before = 0

  mutating func turnBegins() {
    before = max(ready, before * 7 / 8)
    ready = 0
  }

  mutating func noteReady() { ready &+= 1 }

  /// Returns the share of one connection in bytes.
  /// - Parameters:
  ///   - whole: the bytes that one connection may move in a turn in which no other socket is ready.
  ///   - parts: the smallest share is `whole / parts`.
  func bytes(of whole: Int, parts: Int = TurnShare.leastPart) -> Int { whole / min(max(before, ready, 1), parts) }
}
