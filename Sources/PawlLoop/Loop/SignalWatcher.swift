import CLibevent
import CLinux
import PawlBase

/// Calls a handler on a loop for signals to the process. libevent can handle the signals of a process on one loop only, so all
/// watchers must be on the same loop.
package final class SignalWatcher {
  private let loop: EventLoop
  private var events: [UnsafeMutablePointer<event>] = []
  private var handler: ((CInt) -> Void)?

  /// Calls `handler` on the loop for each of `signals` that arrives, until ``close()``. On the loop.
  /// - Throws: ``LoopError/system(call:code:)`` when a signal cannot be caught.
  package init(_ loop: EventLoop, _ signals: [CInt], handler: @escaping (CInt) -> Void) throws(LoopError) {
    loop.preconditionOnLoop()
    self.loop = loop
    self.handler = handler
    for signal in signals {
      let argument = Unmanaged.passUnretained(self).toOpaque()
      let event = loop.makeEvent(signal, EV_SIGNAL | EV_PERSIST, onSignal, argument)
      events.append(event)
      guard event_add(event, nil) == 0 else { throw .system(call: "sigaction", code: pawl_errno()) }
    }
  }

  deinit { releaseAll() }

  /// Stops watching and restores the former handling of the signals.
  package func close() {
    loop.preconditionOnLoop()
    releaseAll()
    _ = take(&handler)
  }

  private func releaseAll() {
    let remaining = events
    events = []
    for event in remaining { loop.dispose(event) }
  }

  fileprivate func arrived(_ signal: CInt) { handler?(signal) }
}

private func onSignal(signal: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the watcher frees its events in close and deinit. The watcher is kept alive during its own callback.
  let watcher = Unmanaged<SignalWatcher>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(watcher) { watcher.arrived(signal) }
}
