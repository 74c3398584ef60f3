import CLibevent
import CLinux
import PawlBase
import PawlTLS

/// One libevent base and the thread that turns it. Sockets, timers and everything built on them belong to one loop
/// and are touched on its thread only; other threads reach it through ``run(_:)``.
///
/// Before its first turn and after its end it belongs to no thread: whoever has it may set things up and let go of them.
package final class EventLoop: @unchecked Sendable {
  // Safe: `mailbox`, `owner`, `phase` and `graveyard` are made for several threads, `graveyard` guards `eventPlaces`;
  // all else belongs to the owner.
  package let index: Int
  package let clock: any LoopClock
  let base: OpaquePointer
  private let mailbox: Mailbox
  private var bellEvent: UnsafeMutablePointer<event>?
  private let owner = AtomicWord(EventLoop.nobody)
  private let phase = AtomicWord(Phase.turning.rawValue)
  private let graveyard = Locked(())
  private var eventPlaces = EventPlaces()

  private var isInTurn = false
  private var share = TurnShare()
  @exclusivity(unchecked) private var expected = ExpectedAnswers()
  private var turnTime: Monotonic?
  private var turnWallSeconds: Int64?
  @exclusivity(unchecked) private var later: [() -> Void] = []
  /// Empty between turns; keeps its room for ``later``.
  private var performing: [() -> Void] = []
  /// Something was put into the mailbox by the loop itself: it looks there at the end of its turn, without being rung for.
  private var hasOwnMail = false
  private var held: [ObjectIdentifier: AnyObject] = [:]
  private var scratch = [UInt8](repeating: 0, count: EventLoop.readBufferSize)

  /// What the protected connections of the loop make their records in.
  private(set) lazy var recordScratch = RecordScratch()

  /// Timers that go by a ``ManualClock``; empty in production.
  let hasManualClock: Bool
  var manualTimers: [ObjectIdentifier: WeakTimer] = [:]

  private static let nobody: UInt = 0
  private static let threadToCome: UInt = 1
  private enum Phase: UInt { case turning, stopping }

  /// Bytes of the shared scratch buffer.
  package static let readBufferSize = 256 << 10

  /// - Throws: ``LoopError/system(call:code:)`` when the process is out of descriptors or memory.
  package init(index: Int, clock: any LoopClock = SystemClock()) throws(LoopError) {
    BrokenPipe.ignoreSignal()
    self.index = index
    self.clock = clock
    hasManualClock = clock is ManualClock
    mailbox = try Mailbox()
    base = try EventLoop.makeBase()
    let bell = makeEvent(mailbox.descriptor, EV_READ | EV_PERSIST, onBell, Unmanaged.passUnretained(self).toOpaque())
    bellEvent = bell
    guard event_add(bell, nil) == 0 else { throw .system(call: "event_add", code: pawl_errno()) }
    (clock as? ManualClock)?.add(self)
  }

  deinit {
    if let bellEvent { event_del(bellEvent) }
    event_base_free(base)
  }

  private static func makeBase() throws(LoopError) -> OpaquePointer {
    guard let settings = event_config_new() else { throw .system(call: "event_config_new", code: ENOMEM) }
    defer { event_config_free(settings) }
    event_config_set_flag(settings, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
    guard let base = event_base_new_with_config(settings) else {
      throw .system(call: "event_base_new", code: pawl_errno())
    }
    // Those whose answer is awaited, and all others.
    guard event_base_priority_init(base, 2) == 0 else {
      event_base_free(base)
      throw .system(call: "event_base_priority_init", code: ENOMEM)
    }
    return base
  }

  // MARK: Turning

  /// Turns the loop on the calling thread, which owns it from now on, until ``stop()``. What is in the mailbox by then
  /// is still performed; what comes later is dropped. A loop runs once.
  package func runUntilStopped() {
    owner.store(currentThread())
    while phase.load() == Phase.turning.rawValue { turnOnce() }
    end()
    owner.store(EventLoop.nobody)
  }

  /// Turns the loop on the calling thread while `condition` holds; it is asked before each turn. For tests and start-up.
  package func turn(while condition: () -> Bool) {
    owner.store(currentThread())
    while condition() { turnOnce() }
    owner.store(EventLoop.nobody)
  }

  /// Before its thread starts: from now on the loop is nobody else's.
  func awaitThread() { owner.store(EventLoop.threadToCome) }

  private func turnOnce() {
    isInTurn = true
    share.turnBegins()
    expected.turnBegins()
    forgetTime()
    event_base_loop(base, later.isEmpty && !hasOwnMail ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
    if !later.isEmpty {
      swap(&later, &performing)
      for work in performing { work() }
      performing.removeAll(keepingCapacity: performing.capacity <= 1024)
    }
    if hasOwnMail {
      hasOwnMail = false
      mailbox.performWaiting()
    }
    isInTurn = false
  }

  private func end() {
    forgetTime()
    mailbox.performAll()
    mailbox.close()
    while !later.isEmpty || !held.isEmpty {
      let remains = (later, held)
      (later, held) = ([], [:])
      withExtendedLifetime(remains) {}  // Let go here, with neither property being written.
    }
  }

  /// From any thread: ends ``runUntilStopped()`` after the current turn.
  package func stop() {
    phase.replace(Phase.turning.rawValue, with: Phase.stopping.rawValue)
    mailbox.ring()
  }

  fileprivate func performMailbox() { mailbox.performAll() }

  // MARK: Giving it work

  /// From any thread: performs `work` on the loop, in the order of the calls. Dropped when the loop has ended.
  package func run(_ work: @escaping @Sendable () -> Void) { run(MailboxClosure(work)) }

  /// From any thread. `false` when the loop has ended.
  @discardableResult
  func run(_ item: MailboxItem) -> Bool {
    // Within its own turn it need not wake itself, which would cost three system calls.
    guard owner.load() == currentThread(), isInTurn else { return mailbox.push(item) }
    hasOwnMail = true
    return mailbox.push(item, rings: false)
  }

  /// On the loop: performs `work` after the callbacks of the current turn. What such work asks for comes one turn later,
  /// after the sockets were looked at.
  package func nextTurn(_ work: @escaping () -> Void) {
    preconditionOnLoop()
    later.append(work)
  }

  package func makeTimer(_ fire: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, fire: fire) }

  /// Whether the calling thread is the loop's, or the loop nobody's.
  package var isCurrent: Bool {
    let thread = owner.load()
    return thread == EventLoop.nobody || thread == currentThread()
  }

  /// Traps on a thread that is not the loop's.
  package func preconditionOnLoop() {
    precondition(isCurrent, "called on another thread than loop \(index)'s")
  }

  // MARK: Sharing turns

  /// Bytes that one connection moves in this turn at most, of `whole` that it moves when nothing else is ready: who
  /// reads or writes as long as its socket lets it asks here when to stop.
  /// - Parameter parts: the smallest share is this part of it.
  package func turnShare(of whole: Int, parts: Int = TurnShare.leastPart) -> Int {
    share.bytes(of: whole, parts: parts)
  }

  /// A socket is ready.
  package func noteReady() {
    share.noteReady()
    if expected.noteReady() { event_base_loopbreak(base) }
  }

  // MARK: Answers that are awaited

  /// What this event tells comes before what others tell, from now on. `false`: it has been told already, or many are awaited.
  func expect(_ event: UnsafeMutablePointer<event>) -> Bool {
    guard expected.begin() else { return false }
    guard event_priority_set(event, 0) == 0 else {
      expected.end()
      return false
    }
    return true
  }

  /// The answer has begun, or nobody waits for it any more (`nil`: its event goes).
  func expectNoMore(_ event: UnsafeMutablePointer<event>?) {
    if let event { event_priority_set(event, 1) }
    expected.end()
  }

  /// Whether who takes one after the other in one call leaves the rest to the next turn.
  var isTurnOver: Bool { expected.isTurnOver }

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

  /// Bytes that who reads into the buffer takes at a time.
  @exclusivity(unchecked) package var readLimit = EventLoop.readBufferSize

  /// 256 KiB that all connections of the loop read into, one at a time; to be given back. Who takes it while it is taken
  /// gets another.
  package func takeReadBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    return buffer.isEmpty ? [UInt8](repeating: 0, count: EventLoop.readBufferSize) : buffer
  }

  package func giveReadBuffer(_ buffer: consuming [UInt8]) { scratch = buffer }

  /// Lends the read buffer to `body`. A call from within `body` gets a buffer of its own.
  package func withReadBuffer<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    var buffer = takeReadBuffer()
    defer { giveReadBuffer(buffer) }
    // A typed throw does not pass through the array's own rethrowing method.
    var outcome: Result<R, E>?
    buffer.withUnsafeMutableBytes { bytes in
      do throws(E) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
    }
    guard let outcome else { preconditionFailure("the buffer was not lent") }
    return try outcome.get()
  }

  // MARK: Keeping things alive, and letting go of them

  /// Protected connections that are closed and still send what was taken from their owners.
  package internal(set) var closingCount = 0
  /// Told, on the loop, when ``closingCount`` has become 0. Set before the loop turns.
  package var whenNoneCloses: (() -> Void)?

  /// Keeps `object` alive while the kernel owes it an answer; at the loop's end at the latest it is let go.
  func hold(_ object: AnyObject) { held[ObjectIdentifier(object)] = object }
  func letGo(_ object: AnyObject) { held[ObjectIdentifier(object)] = nil }

  /// Frees events and closes a descriptor. Traps on another thread while the loop turns: an event that fires now would
  /// find its object gone.
  func dispose(
    _ first: UnsafeMutablePointer<event>?, _ second: UnsafeMutablePointer<event>? = nil, descriptor: CInt = -1
  ) {
    preconditionOnLoop()
    // Where no thread turns the loop, several may let go of its objects at once.
    graveyard.withLock { _ in
      for event in [first, second] {
        guard let event else { continue }
        event_del(event)
        eventPlaces.give(event)
      }
    }
    if descriptor >= 0 { close(descriptor) }
  }
}

extension EventLoop {
  /// A libevent event of this loop, not added yet.
  func makeEvent(
    _ descriptor: CInt, _ what: CInt, _ callback: @escaping event_callback_fn, _ argument: UnsafeMutableRawPointer?
  ) -> UnsafeMutablePointer<event> {
    let event = graveyard.withLock { _ in eventPlaces.take() }
    // It fails for flags that exclude each other and for timers with a descriptor: our own mistakes.
    let code = event_assign(event, base, descriptor, Int16(truncatingIfNeeded: what), callback, argument)
    precondition(code == 0, "no event is like that")
    return event
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
