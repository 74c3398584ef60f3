/// Wraps state that may be used on one loop only. The wrapper itself may be passed through other threads.
package struct LoopBound<State>: @unchecked Sendable {
  private let state: State  // Safe: read only after `preconditionOnLoop`.
  private let loop: EventLoop

  package init(_ state: State, on loop: EventLoop) { (self.state, self.loop) = (state, loop) }

  /// Returns the state. On the loop; traps on another thread.
  package func get() -> State {
    loop.preconditionOnLoop()
    return state
  }
}
