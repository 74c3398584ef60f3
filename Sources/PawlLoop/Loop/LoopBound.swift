/// State reachable from one loop only (style rule 13).
package struct LoopBound<State>: @unchecked Sendable {
  private let state: State  // Safe: read only after `preconditionOnLoop`.
  private let loop: EventLoop

  package init(_ state: State, on loop: EventLoop) { (self.state, self.loop) = (state, loop) }

  /// Only on the loop; traps elsewhere.
  package func get() -> State {
    loop.preconditionOnLoop()
    return state
  }
}
