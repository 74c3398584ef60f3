import CLibevent
import CLinux
import PawlBase

/// A timer on one loop that can be set again and again. The timer never fires early. Setting a running timer to a later time, or
/// cancelling it, costs no operation on libevent's queue of timers, because the libevent event fires at the earlier time and is
/// then set again, or ignored.
///
/// The closure lives until ``close()`` or the end of the timer. If the closure refers to the object that holds the timer, it has
/// to capture that object with `[weak self]` or `[unowned self]`.
package final class LoopTimer {
  private let loop: EventLoop
  private var fire: (() -> Void)?
  private var alarm: UnsafeMutablePointer<event>?
  /// The time for which the libevent event is set; `nil` while the event is not set. May be earlier than `due`.
  private var alarmTime: Monotonic?
  private(set) var due: Monotonic?

  init(loop: EventLoop, fire: @escaping () -> Void) {
    self.loop = loop
    self.fire = fire
  }

  deinit {
    if loop.hasManualClock { loop.manualTimers[ObjectIdentifier(self)] = nil }
    releaseAlarm()
  }

  /// Whether the timer is set.
  package var isScheduled: Bool { due != nil }

  /// Sets the timer to fire once, `delay` after the time of the current turn. Replaces an earlier setting. With a `delay` of zero
  /// or less the timer fires in the next turn.
  package func schedule(after delay: Duration) {
    loop.preconditionOnLoop()
    guard fire != nil else { return }
    let time = loop.now.advanced(by: delay)
    due = time
    if loop.hasManualClock { return loop.addManual(self, isDueNow: delay <= .zero) }
    if let alarmTime, alarmTime <= time { return }
    setAlarm(delay, at: time)
  }

  /// Stops the timer until it is scheduled again.
  package func cancel() {
    loop.preconditionOnLoop()
    due = nil
  }

  /// Stops the timer for ever and releases the closure.
  package func close() {
    loop.preconditionOnLoop()
    due = nil
    releaseAlarm()
    _ = take(&fire)
  }

  private func releaseAlarm() {
    guard let event = alarm else { return }
    alarm = nil
    alarmTime = nil
    loop.dispose(event)
  }

  private func setAlarm(_ delay: Duration, at time: Monotonic) {
    let event = alarm ?? loop.makeEvent(-1, 0, onAlarm, Unmanaged.passUnretained(self).toOpaque())
    alarm = event
    // libevent waits for at most about 2^31 seconds. So the alarm is set for at most one year, and ``rang()`` then sets it again
    // for the rest.
    let nanoseconds = min(max(delay.wholeNanoseconds, 0), 1_000_000_000 * 86_400 * 365)
    var wait = timeval()
    wait.tv_sec = Int(nanoseconds / 1_000_000_000)
    wait.tv_usec = Int((nanoseconds % 1_000_000_000 + 999) / 1000)
    if wait.tv_usec == 1_000_000 { (wait.tv_sec, wait.tv_usec) = (wait.tv_sec + 1, 0) }
    // A timer needs no descriptor, so `event_add` fails only when there is no memory left.
    precondition(event_add(event, &wait) == 0, "out of memory")
    alarmTime = time
  }

  fileprivate func rang() {
    alarmTime = nil
    guard let due else { return }
    // libevent reads a coarse clock that may be some milliseconds late, so the loop's clock decides.
    let time = loop.clock.now()
    guard time >= due else { return setAlarm(max(due - time, .milliseconds(1)), at: due) }
    fireNow()
  }

  func fireNow() {
    due = nil
    fire?()
  }
}

private func onAlarm(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the timer frees the event in its deinit, so the timer exists here. The timer is kept alive during its own callback.
  let timer = Unmanaged<LoopTimer>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(timer) { timer.rang() }
}

struct WeakTimer {
  weak var timer: LoopTimer?
}

extension EventLoop {
  func addManual(_ timer: LoopTimer, isDueNow: Bool) {
    manualTimers[ObjectIdentifier(timer)] = WeakTimer(timer: timer)
    if isDueNow { nextTurn { [weak self] in self?.fireDueTimers() } }
  }

  /// Fires the timers of a ``ManualClock`` whose time has come, in the order of their times.
  func fireDueTimers() {
    forgetTime()
    let time = clock.now()
    manualTimers = manualTimers.filter { $0.value.timer?.isScheduled == true }
    let candidates = manualTimers.values.compactMap(\.timer)
      .filter { $0.due.map { $0 <= time } ?? false }
      .sorted { ($0.due ?? time) < ($1.due ?? time) }
    for timer in candidates {
      guard let due = timer.due, due <= time else { continue }
      timer.fireNow()
    }
  }
}
