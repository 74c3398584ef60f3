package import PawlLoop

/// A callback that is called and released on its loop only.
package final class LoopReply<Value: Sendable>: @unchecked Sendable {
  // Safe: `body` is touched on the loop only, or after the loop has ended.
  private let loop: EventLoop
  private var body: ((Value) -> Void)?

  /// Makes a reply that is performed on this loop.
  package init(on loop: EventLoop, _ body: @escaping (Value) -> Void) { (self.loop, self.body) = (loop, body) }

  /// Calls the callback. Call this on the loop.
  package func perform(_ value: Value) {
    let body = body
    self.body = nil
    body?(value)
  }

  /// Makes the loop call the callback. May be called on any thread.
  package func send(_ value: Value) { loop.run { self.perform(value) } }
}
