/// A way to an object of a loop that may be held, copied and let go of on any thread: it does not keep the object.
package struct LoopWeak<Object: AnyObject>: @unchecked Sendable {
  // Safe: the reference is read on the loop only; letting go of a weak reference touches no object.
  private final class Reference: @unchecked Sendable {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
  }

  private let reference: Reference
  private let loop: EventLoop

  package init(_ object: Object, on loop: EventLoop) { (reference, self.loop) = (Reference(object), loop) }

  /// Runs `work` on the loop with the object, unless that is gone by then. From any thread.
  package func run(_ work: @escaping @Sendable (Object) -> Void) {
    loop.run { [reference] in
      guard let object = reference.object else { return }
      work(object)
    }
  }
}
