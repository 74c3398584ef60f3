import CLinux

/// A thread of a test that must be joined once.
package struct TestThread: Sendable {
  private let thread: pthread_t

  package init(_ work: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(work))
    let code = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().work() }
        return nil
      }, box.toOpaque())
    precondition(code == 0, "no thread for the test")
    self.thread = thread
  }

  package func join() { pthread_join(thread, nil) }

  private final class Box: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  }
}
