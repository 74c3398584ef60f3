import CLibevent
import CLinux

/// A timer that fires at even intervals with microsecond precision; ``LoopTimer`` has millisecond precision. It is a timerfd(2),
/// and each firing costs a system call, so it is only meant for work that has to keep a given rate.
package final class PreciseTimer {
  private let loop: EventLoop
  private var descriptor: CInt
  private var readEvent: UnsafeMutablePointer<event>?
  private let ring: () -> Void

  /// Calls `ring` first at `start`, then every `interval`, until ``close()``. If several intervals pass while the loop is busy,
  /// `ring` is called once for all of them. The caller has to be on the loop.
  /// - Throws: ``LoopError/system(call:code:)`` if the process has no descriptors left.
  package init(
    _ loop: EventLoop, start: Monotonic, every interval: Duration, ring: @escaping () -> Void
  ) throws(LoopError) {
    loop.preconditionOnLoop()
    (self.loop, self.ring) = (loop, ring)
    descriptor = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_NONBLOCK | TFD_CLOEXEC))
    guard descriptor >= 0 else { throw .system(call: "timerfd_create", code: pawl_errno()) }
    var times = itimerspec(
      it_interval: Self.timespec(UInt64(max(1, interval.wholeNanoseconds))),
      it_value: Self.timespec(max(1, start.nanoseconds)))
    guard timerfd_settime(descriptor, CInt(TFD_TIMER_ABSTIME), &times, nil) == 0 else {
      throw .system(call: "timerfd_settime", code: pawl_errno())
    }
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let event = loop.makeEvent(descriptor, EV_READ | EV_PERSIST, onRing, argument)
    readEvent = event
    guard event_add(event, nil) == 0 else { throw .system(call: "event_add", code: pawl_errno()) }
  }

  deinit { releaseAll() }

  package func close() {
    loop.preconditionOnLoop()
    releaseAll()
  }

  private func releaseAll() {
    guard descriptor >= 0 else { return }
    let (event, timer) = (readEvent, descriptor)
    (readEvent, descriptor) = (nil, -1)
    loop.dispose(event, descriptor: timer)
  }

  fileprivate func rang() {
    var count: UInt64 = 0
    guard read(descriptor, &count, MemoryLayout<UInt64>.size) > 0 else { return }
    ring()
  }

  private static func timespec(_ nanoseconds: UInt64) -> CLinux.timespec {
    CLinux.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

private func onRing(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the timer frees the event in close and deinit. The timer is kept alive during its own callback.
  let timer = Unmanaged<PreciseTimer>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(timer) { timer.rang() }
}
