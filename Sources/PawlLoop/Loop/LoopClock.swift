import CLinux
import PawlBase

/// The source of time of a loop. The loop gets it from outside, so that tests can set the time.
package protocol LoopClock: AnyObject, Sendable {
  func now() -> Monotonic
  /// Seconds since 1970.
  func wallSeconds() -> Int64
  /// Milliseconds since 1970.
  func wallMilliseconds() -> Int64
}

/// The clocks of the kernel. A call costs about 20 ns and no system call.
package final class SystemClock: LoopClock {
  package init() {}

  package func now() -> Monotonic {
    let time = read(CLOCK_MONOTONIC)
    return Monotonic(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  package func wallSeconds() -> Int64 { Int64(read(CLOCK_REALTIME).tv_sec) }

  package func wallMilliseconds() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)  // Cannot fail, because both clocks exist and the pointer is valid.
    return time
  }
}

/// A clock for tests that moves only when ``advance(by:)`` is called. Timers of loops with this clock fire only when the clock
/// passes their times, in the order of these times.
package final class ManualClock: LoopClock {
  private struct State {
    var nanoseconds: UInt64
    var wallMilliseconds: Int64
    var loops: [WeakLoop] = []
  }
  private struct WeakLoop { weak var loop: EventLoop? }
  private let state: Locked<State>

  package init(
    now: Monotonic = Monotonic(nanoseconds: 1_000_000_000_000), wallSeconds: Int64 = 1_700_000_000
  ) {
    state = Locked(State(nanoseconds: now.nanoseconds, wallMilliseconds: wallSeconds * 1000))
  }

  package func now() -> Monotonic { state.withLock { Monotonic(nanoseconds: $0.nanoseconds) } }
  package func wallMilliseconds() -> Int64 { state.withLock { $0.wallMilliseconds } }
  package func wallSeconds() -> Int64 { wallMilliseconds() / 1000 }

  /// Advances the monotonic clock and the wall clock, and wakes the loops that use this clock. From any thread.
  package func advance(by duration: Duration) {
    let loops = state.withLock { state in
      state.nanoseconds = Monotonic(nanoseconds: state.nanoseconds).advanced(by: duration).nanoseconds
      state.wallMilliseconds += duration.wholeNanoseconds / 1_000_000
      state.loops.removeAll { $0.loop == nil }
      return state.loops
    }
    for entry in loops {
      guard let loop = entry.loop else { continue }
      loop.run { loop.fireDueTimers() }
    }
  }

  /// Advances the wall clock only, as an administrator or NTP would.
  package func advanceWall(bySeconds seconds: Int64) { state.withLock { $0.wallMilliseconds += seconds * 1000 } }

  func add(_ loop: EventLoop) { state.withLock { $0.loops.append(WeakLoop(loop: loop)) } }
}
