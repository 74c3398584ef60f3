/// How much of one turn a connection with much to move may take. Alone it takes all it wants; the more sockets are ready
/// beside it, the sooner it makes room for them, so that small answers do not wait for large bodies.
package struct TurnShare: Sendable {
  /// Nobody is cut shorter than this part of what it may take alone: more calls would cost more than they spare others.
  package static let leastPart = 8

  /// Sockets that were told to be ready in this turn so far, and in those before it. That is forgotten over some twenty turns:
  /// clients that wait for their answers are ready in some turns and not in others.
  private var ready = 0
  private var before = 0

  mutating func turnBegins() {
    before = max(ready, before * 7 / 8)
    ready = 0
  }

  mutating func noteReady() { ready &+= 1 }

  /// - Parameters:
  ///   - whole: bytes that one connection may move in a turn in which nothing else is ready.
  ///   - parts: nobody is cut shorter than this part of it.
  func bytes(of whole: Int, parts: Int = TurnShare.leastPart) -> Int { whole / min(max(before, ready, 1), parts) }
}
