/// A weak reference to an object of a loop. Any thread may hold, copy and release the reference, which does not keep the object
/// alive.
package struct LoopWeak<Object: AnyObject>: @unchecked Sendable {
  // Safe: the reference is read on the loop only. Releasing a weak reference does not touch the object.
  private final class Reference: @unchecked Sendable {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
  }

  private let reference: Reference
  private let loop: EventLoop

  package init(_ object: Object, on loop: EventLoop) { (reference, self.loop) = (Reference(object), loop) }

  /// Performs `work` on the loop with the object, unless the object has been freed by then. From any thread.
  package func run(_ work: @escaping @Sendable (Object) -> Void) {
    loop.run { [reference] in
      guard let object = reference.object else { return }
      work(object)
    }
  }
}
