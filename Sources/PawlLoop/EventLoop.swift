import CLibevent
import CLinux

/// One libevent base and the thread that turns it. Sockets, timers and everything built on them belong to one loop
/// and are touched on its thread only; other threads reach it through ``run(_:)``.
///
/// Until the loop first turns, the thread that made it may set things up on it.
package final class EventLoop: @unchecked Sendable {
  // Safe: `mailbox`, `owner`, `phase` and `graveyard` are made for several threads; all else belongs to the owner.
  package let index: Int
  package let clock: any LoopClock
  let base: OpaquePointer
  private let mailbox: Mailbox
  private var bellEvent: UnsafeMutablePointer<event>?
  private let owner: AtomicWord
  private let phase = AtomicWord(Phase.waiting.rawValue)
  private let graveyard = Locked(())

  private var isInTurn = false
  private var turnTime: Monotonic?
  private var turnWallSeconds: Int64?
  private var later: [() -> Void] = []
  private var held: [ObjectIdentifier: AnyObject] = [:]
  private var scratch = [UInt8](repeating: 0, count: EventLoop.readBufferSize)

  /// Timers that go by a ``ManualClock``; empty in production.
  let hasManualClock: Bool
  var manualTimers: [ObjectIdentifier: WeakTimer] = [:]

  private enum Phase: UInt { case waiting, stopping, ended }

  /// Bytes of the shared scratch buffer.
  package static let readBufferSize = 256 << 10

  /// - Throws: ``LoopError/system(call:code:)`` when the process is out of descriptors or memory.
  package init(index: Int, clock: any LoopClock = SystemClock()) throws(LoopError) {
    BrokenPipe.ignoreSignal()
    self.index = index
    self.clock = clock
    hasManualClock = clock is ManualClock
    owner = AtomicWord(currentThread())
    mailbox = try Mailbox()
    base = try EventLoop.makeBase()
    let bell = makeEvent(mailbox.descriptor, EV_READ | EV_PERSIST, onBell, Unmanaged.passUnretained(self).toOpaque())
    bellEvent = bell
    guard event_add(bell, nil) == 0 else { throw .system(call: "event_add", code: pawl_errno()) }
    (clock as? ManualClock)?.add(self)
  }

  deinit {
    mailbox.close()  // Remains that wait in it need the base.
    if let bellEvent { event_free(bellEvent) }
    event_base_free(base)
  }

  private static func makeBase() throws(LoopError) -> OpaquePointer {
    guard let settings = event_config_new() else { throw .system(call: "event_config_new", code: ENOMEM) }
    defer { event_config_free(settings) }
    event_config_set_flag(settings, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
    guard let base = event_base_new_with_config(settings) else {
      throw .system(call: "event_base_new", code: pawl_errno())
    }
    return base
  }

  // MARK: Turning

  /// Turns the loop on the calling thread, which owns it from now on, until ``stop()``. What is in the mailbox by then
  /// is still performed; what comes later is dropped. A loop runs once.
  package func runUntilStopped() {
    turn { phase.load() == Phase.waiting.rawValue }
    end()
  }

  /// Turns the loop on the calling thread while `condition` holds; it is asked after each turn. For tests and start-up.
  package func turn(while condition: () -> Bool) {
    owner.store(currentThread())
    while condition() {
      oneTurn(mayWait: later.isEmpty)
    }
  }

  private func oneTurn(mayWait: Bool) {
    isInTurn = true
    turnTime = nil
    turnWallSeconds = nil
    event_base_loop(base, mayWait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
    if !later.isEmpty {
      let batch = later
      later = []
      for work in batch { work() }
    }
    isInTurn = false
  }

  private func end() {
    isInTurn = true
    forgetTime()
    mailbox.performAll()
    mailbox.close()
    while !later.isEmpty || !held.isEmpty {
      (later, held) = ([], [:])
    }
    isInTurn = false
    phase.store(Phase.ended.rawValue)
  }

  /// From any thread: ends ``runUntilStopped()`` after the current turn.
  package func stop() {
    phase.replace(Phase.waiting.rawValue, with: Phase.stopping.rawValue)
    mailbox.ring()
  }

  fileprivate func performMailbox() { mailbox.performAll() }

  // MARK: Giving it work

  /// From any thread: performs `work` on the loop, in the order of the calls. Dropped when the loop has ended.
  package func run(_ work: @escaping @Sendable () -> Void) { mailbox.push(MailboxClosure(work)) }

  /// From any thread. `false` when the loop has ended.
  @discardableResult
  func run(_ item: MailboxItem) -> Bool { mailbox.push(item) }

  /// On the loop: performs `work` after the callbacks of the current turn. What such work asks for comes one turn later,
  /// after the sockets were looked at.
  package func nextTurn(_ work: @escaping () -> Void) {
    preconditionOnLoop()
    later.append(work)
  }

  package func makeTimer(_ fire: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, fire: fire) }

  /// Whether the calling thread is the loop's.
  package var isCurrent: Bool { owner.load() == currentThread() }

  /// Traps on a thread that is not the loop's. A loop that has ended has no thread any more and does not mind.
  package func preconditionOnLoop() {
    precondition(isCurrent || hasEnded, "called on another thread than loop \(index)'s")
  }

  private var hasEnded: Bool { phase.load() == Phase.ended.rawValue }

  // MARK: Time and scratch space

  /// The time of the current turn: asked of the clock once a turn, when first wanted.
  package var now: Monotonic {
    if let turnTime { return turnTime }
    let time = clock.now()
    if isInTurn { turnTime = time }
    return time
  }

  /// Seconds since 1970, of the current turn.
  package var wallSeconds: Int64 {
    if let turnWallSeconds { return turnWallSeconds }
    let time = clock.wallSeconds()
    if isInTurn { turnWallSeconds = time }
    return time
  }

  func forgetTime() { (turnTime, turnWallSeconds) = (nil, nil) }

  /// 256 KiB that all connections of the loop read into, one at a time. Take it out (leave an empty array), put it back.
  package var readBuffer: [UInt8] {
    get { scratch }
    _modify { yield &scratch }
  }

  /// Lends the read buffer to `body`. A call from within `body` gets a buffer of its own.
  package func withReadBuffer<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: EventLoop.readBufferSize) }
    defer { swap(&buffer, &scratch) }
    // A typed throw does not pass through the array's own rethrowing method.
    var outcome: Result<R, E>?
    buffer.withUnsafeMutableBytes { bytes in
      do throws(E) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
    }
    guard let outcome else { preconditionFailure("the buffer was not lent") }
    return try outcome.get()
  }

  // MARK: Keeping things alive, and letting go of them

  /// Keeps `object` alive while the kernel owes it an answer; at the loop's end at the latest it is let go.
  func hold(_ object: AnyObject) { held[ObjectIdentifier(object)] = object }
  func letGo(_ object: AnyObject) { held[ObjectIdentifier(object)] = nil }

  /// Frees events and closes a descriptor where that is safe: at once on the loop, else through the mailbox, and
  /// after the loop's end one thread at a time.
  func dispose(
    _ first: UnsafeMutablePointer<event>?, _ second: UnsafeMutablePointer<event>? = nil, descriptor: CInt = -1
  ) {
    let remains = Remains(first, second, descriptor)
    if isCurrent && !hasEnded {
      remains.perform()
    } else if !mailbox.push(remains) {
      graveyard.withLock { _ in remains.perform() }
    }
  }
}

extension EventLoop {
  /// A libevent event of this loop, not added yet.
  func makeEvent(
    _ descriptor: CInt, _ what: CInt, _ callback: @escaping event_callback_fn, _ argument: UnsafeMutableRawPointer?
  ) -> UnsafeMutablePointer<event> {
    // `event_new` returns nil only without memory, where Swift itself traps too.
    guard let event = event_new(base, descriptor, Int16(truncatingIfNeeded: what), callback, argument) else {
      preconditionFailure("out of memory")
    }
    return event
  }
}

/// What an object of a loop leaves behind. Freed when performed, or when a mailbox that is never emptied again drops it.
private final class Remains: MailboxItem, @unchecked Sendable {
  // Safe: the object that owned these is gone; `isFree` is touched by one thread at a time, the last that has the item.
  private let first: UnsafeMutablePointer<event>?
  private let second: UnsafeMutablePointer<event>?
  private let descriptor: CInt
  private var isFree = false

  init(_ first: UnsafeMutablePointer<event>?, _ second: UnsafeMutablePointer<event>?, _ descriptor: CInt) {
    (self.first, self.second, self.descriptor) = (first, second, descriptor)
  }

  deinit { perform() }

  override func perform() {
    guard !isFree else { return }
    isFree = true
    if let first { event_free(first) }
    if let second { event_free(second) }
    if descriptor >= 0 { close(descriptor) }
  }
}

private func onBell(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the loop outlives its bell event, and this runs inside a call to the loop.
  Unmanaged<EventLoop>.fromOpaque(argument).takeUnretainedValue().performMailbox()
}

/// Never inlined: `pthread_self()` may be cached across a suspension by an async caller.
@inline(never)
private func currentThread() -> UInt { UInt(pthread_self()) }
