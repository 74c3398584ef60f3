package import PawlLoop

/// A callback that is called and released on its loop only.
package final class LoopReply<Value: Sendable>: @unchecked Sendable {
  // Safe: `body` is touched on the loop only, but for a loop that has ended.
  private let loop: EventLoop
  private var body: ((Value) -> Void)?

  /// Makes a reply that is performed on this loop.
  package init(on loop: EventLoop, _ body: @escaping (Value) -> Void) { (self.loop, self.body) = (loop, body) }

  /// Calls the callback. On the loop.
  package func perform(_ value: Value) {
    let body = body
    self.body = nil
    body?(value)
  }

  /// Has the callback called on the loop. From any thread.
  package func send(_ value: Value) { loop.run { self.perform(value) } }
}
