import CLinux

/// A thread of pawl. It blocks the signals that are meant for the process, so that they do not interrupt a disk access on this
/// thread, and the main thread gets them.
package final class LoopThread: Sendable {
  private let handle: pthread_t
  private let isJoined = AtomicWord(0)

  /// Starts `body` on a new thread. `top -H` shows the first 15 bytes of `name`.
  /// - Throws: ``LoopError/system(call:code:)`` if the system cannot create another thread.
  package init(name: String, _ body: @escaping @Sendable () -> Void) throws(LoopError) {
    let start = ThreadStart(name: name, body: body)
    let argument = Unmanaged.passRetained(start)
    var before = sigset_t()
    var blocked = LoopThread.blockedSignals()
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    var handle = pthread_t()
    let code = pthread_create(&handle, nil, runThread, argument.toOpaque())
    pthread_sigmask(SIG_SETMASK, &before, nil)
    guard code == 0 else {
      argument.release()
      throw .system(call: "pthread_create", code: code)
    }
    self.handle = handle
  }

  deinit {
    if isJoined.load() == 0 { pthread_detach(handle) }
  }

  /// Waits until the thread has ended. Only the first call waits; later calls return at once.
  package func join() {
    guard isJoined.exchange(1) == 0 else { return }
    pthread_join(handle, nil)
  }

  /// The signals that are blocked: all except the signals that report a fault of the thread itself.
  private static func blockedSignals() -> sigset_t {
    var signals = sigset_t()
    sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&signals, fault) }
    return signals
  }
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void
  init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
  pthread_setname_np(pthread_self(), String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
  start.body()
  return nil
}

extension EventLoop {
  /// Makes a loop and a thread that runs the loop until ``stop()``. After ``stop()`` the caller joins the thread.
  /// - Parameter name: the name of the thread; `nil`: `pawl-loop-` and the index.
  /// - Throws: ``LoopError/system(call:code:)`` if the process has no descriptors, memory or threads left.
  package static func startThread(
    index: Int, name: String? = nil, clock: any LoopClock = SystemClock()
  ) throws(LoopError) -> (loop: EventLoop, thread: LoopThread) {
    let loop = try EventLoop(index: index, clock: clock)
    loop.awaitThread()
    let thread = try LoopThread(name: name ?? "pawl-loop-\(index)") { loop.runUntilStopped() }
    return (loop, thread)
  }
}
