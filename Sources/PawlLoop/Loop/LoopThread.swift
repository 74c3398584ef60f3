import CLinux

/// A thread of pawl's own. Signals meant for the process are blocked on it, so that they interrupt no disk call and
/// arrive at the main thread.
package final class LoopThread: Sendable {
  private let handle: pthread_t
  private let isJoined = AtomicWord(0)

  /// Starts `body` on a new thread; `name` shows in `top -H` (its first 15 bytes).
  /// - Throws: ``LoopError/system(call:code:)`` when the system has no thread left.
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

  /// Waits until the thread has ended. Once; later calls return at once.
  package func join() {
    guard isJoined.exchange(1) == 0 else { return }
    pthread_join(handle, nil)
  }

  /// All but those that tell of a fault of the thread itself.
  private static func blockedSignals() -> sigset_t {
    var signals = sigset_t()
    sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT, SIGSYS] { sigdelset(&signals, fault) }
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
  /// Makes a loop and a thread that turns it until ``stop()``; join the thread after that.
  /// - Throws: ``LoopError/system(call:code:)`` when descriptors, memory or threads are used up.
  package static func startThread(
    index: Int, clock: any LoopClock = SystemClock()
  ) throws(LoopError) -> (loop: EventLoop, thread: LoopThread) {
    let loop = try EventLoop(index: index, clock: clock)
    loop.awaitThread()
    let thread = try LoopThread(name: "pawl-loop-\(index)") { loop.runUntilStopped() }
    return (loop, thread)
  }
}
