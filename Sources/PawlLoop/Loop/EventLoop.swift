import CLibevent
import CLinux
import PawlBase
package import PawlObserve
import PawlTLS

/// An event loop: one libevent base and the thread that runs it. A turn is one pass over the ready sockets and due timers.
/// Sockets, timers and everything built on them belong to one loop and are used on its thread only. Other threads reach the loop
/// through ``run(_:)``.
///
/// Before its first turn and after its end the loop belongs to no thread. Any thread may then create objects on the loop and
/// release them.
package final class EventLoop: @unchecked Sendable {
  // Safe: `mailbox`, `owner`, `phase` and `graveyard` are thread-safe, and `graveyard` guards `eventPlaces`. Only the loop's
  // thread uses the rest.
  package let index: Int
  package let clock: any LoopClock
  /// What is counted on this loop: by the loop itself its turns, by its users the rest.
  package let counters = LoopCounters()
  let base: OpaquePointer
  private let mailbox: Mailbox
  private var bellEvent: UnsafeMutablePointer<event>?
  private let owner = AtomicWord(EventLoop.nobody)
  private let phase = AtomicWord(Phase.turning.rawValue)
  private let graveyard = Locked(())
  private var eventPlaces = EventPlaces()

  private var isInTurn = false
  private var share = TurnShare()
  @exclusivity(unchecked) private var expected = AwaitedResponses()
  private var turnTime: Monotonic?
  private var turnWallSeconds: Int64?
  @exclusivity(unchecked) private var later: [() -> Void] = []
  /// The work of ``later`` while it is performed. Empty between turns; keeps its capacity for the next swap.
  private var performing: [() -> Void] = []
  /// Whether the loop has put work into its own mailbox during this turn. The loop then reads the mailbox at the end of the turn,
  /// without being woken.
  private var hasOwnMail = false
  private var held: [ObjectIdentifier: AnyObject] = [:]
  private var scratch = [UInt8](repeating: 0, count: EventLoop.readBufferSize)

  /// The buffer in which the TLS connections of this loop build their records.
  private(set) lazy var recordScratch = RecordScratch()

  /// Whether the loop has a ``ManualClock``; `false` in production. `manualTimers`: the timers of such a loop.
  let hasManualClock: Bool
  var manualTimers: [ObjectIdentifier: WeakTimer] = [:]

  private static let nobody: UInt = 0
  private static let threadToCome: UInt = 1
  private enum Phase: UInt { case turning, stopping }

  /// Size of the shared read buffer in bytes.
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
    // Two priorities: sockets whose response is awaited (0), and all others (1).
    guard event_base_priority_init(base, 2) == 0 else {
      event_base_free(base)
      throw .system(call: "event_base_priority_init", code: ENOMEM)
    }
    return base
  }

  // MARK: Turning

  /// Performs turns of the loop until ``stop()``, on the calling thread, to which the loop belongs meanwhile. Work that is in the
  /// mailbox when the loop stops is still performed; later work is dropped. A loop can run only one time.
  package func runUntilStopped() {
    owner.store(currentThread())
    while phase.load() == Phase.turning.rawValue { turnOnce() }
    end()
    owner.store(EventLoop.nobody)
  }

  /// Performs turns of the loop while `condition` holds, on the calling thread. The condition is evaluated before each turn. For
  /// tests and for `pawl-bench`.
  package func turn(while condition: () -> Bool) {
    owner.store(currentThread())
    while condition() { turnOnce() }
    owner.store(EventLoop.nobody)
  }

  /// Reserves the loop for a thread that is about to start. From now on no other thread may use the loop.
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
    if let began = turnTime { counters.addTurn(microseconds: clock.now().microseconds(since: began)) }
    isInTurn = false
  }

  private func end() {
    forgetTime()
    mailbox.performAll()
    mailbox.close()
    while !later.isEmpty || !held.isEmpty {
      let remains = (later, held)
      (later, held) = ([], [:])
      withExtendedLifetime(remains) {}  // Released here, when no access to either property is running.
    }
  }

  /// Ends ``runUntilStopped()`` after the current turn. From any thread.
  package func stop() {
    phase.replace(Phase.turning.rawValue, with: Phase.stopping.rawValue)
    mailbox.ring()
  }

  fileprivate func performMailbox() {
    turnHasWork()
    mailbox.performAll()
  }

  /// Reads the time of the turn, if nothing has read it yet: the length of a turn is measured from its first work on, not from
  /// the wait before it.
  private func turnHasWork() {
    if turnTime == nil, isInTurn { turnTime = clock.now() }
  }

  // MARK: Giving it work

  /// Performs `work` on the loop, in the order of the calls. Drops `work` if the loop has ended. From any thread.
  package func run(_ work: @escaping @Sendable () -> Void) { run(MailboxClosure(work)) }

  /// Performs `item` on the loop. From any thread.
  /// - Returns: `false` if the loop has ended.
  @discardableResult
  func run(_ item: MailboxItem) -> Bool {
    // During its own turn the loop does not have to wake itself, which would cost three system calls.
    guard owner.load() == currentThread(), isInTurn else { return mailbox.push(item) }
    hasOwnMail = true
    return mailbox.push(item, rings: false)
  }

  /// Performs `work` after the callbacks of the current turn. On the loop. If `work` calls this again, the second work is
  /// performed one turn later, after the loop has polled its sockets.
  package func nextTurn(_ work: @escaping () -> Void) {
    preconditionOnLoop()
    later.append(work)
  }

  package func makeTimer(_ fire: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, fire: fire) }

  /// Whether the calling thread may use the loop: it is the loop's thread, or the loop belongs to no thread.
  package var isCurrent: Bool {
    let thread = owner.load()
    return thread == EventLoop.nobody || thread == currentThread()
  }

  /// Traps if the calling thread is not the loop's.
  package func preconditionOnLoop() {
    precondition(isCurrent, "called on another thread than loop \(index)'s")
  }

  // MARK: Sharing turns

  /// Returns how many bytes one connection may move in this turn: `whole` if no other socket is ready, and fewer bytes if other
  /// sockets are ready. A connection that reads or writes until its socket would block stops at this limit.
  package func turnShare(of whole: Int, parts: Int = TurnShare.leastPart) -> Int {
    share.bytes(of: whole, parts: parts)
  }

  /// Notes that a socket is ready. Ends the turn early if responses are awaited and enough sockets were served.
  package func noteReady() {
    share.noteReady()
    turnHasWork()
    if expected.noteReady() { event_base_loopbreak(base) }
  }

  // MARK: Answers that are awaited

  /// Serves this event before others from now on, because a response is awaited on its socket.
  /// - Returns: `false` if the event has fired already, or if too many responses are awaited.
  func expect(_ event: UnsafeMutablePointer<event>) -> Bool {
    guard expected.begin() else { return false }
    guard event_priority_set(event, 0) == 0 else {
      expected.end()
      return false
    }
    return true
  }

  /// Ends the preference that ``expect(_:)`` gave, because the response has begun or nothing waits for it any more.
  /// - Parameter event: `nil` if the event is about to be freed.
  func expectNoMore(_ event: UnsafeMutablePointer<event>?) {
    if let event { event_priority_set(event, 1) }
    expected.end()
  }

  /// Whether a callback that handles several items in one call, such as the listener, has to leave its remaining items to the
  /// next turn.
  var isTurnOver: Bool { expected.isTurnOver }

  // MARK: Time and scratch space

  /// The time of the current turn. The clock is read once a turn, at the first use.
  package var now: Monotonic {
    if let turnTime { return turnTime }
    let time = clock.now()
    if isInTurn { turnTime = time }
    return time
  }

  /// The wall clock in this turn: seconds since 1970.
  package var wallSeconds: Int64 {
    if let turnWallSeconds { return turnWallSeconds }
    let time = clock.wallSeconds()
    if isInTurn { turnWallSeconds = time }
    return time
  }

  func forgetTime() { (turnTime, turnWallSeconds) = (nil, nil) }

  /// How many bytes a connection reads into the buffer at a time.
  @exclusivity(unchecked) package var readLimit = EventLoop.readBufferSize

  /// Takes the read buffer of 256 KiB that all connections of the loop share, one at a time. The caller gives the buffer back. A
  /// call before the buffer is given back returns a new buffer.
  package func takeReadBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    return buffer.isEmpty ? [UInt8](repeating: 0, count: EventLoop.readBufferSize) : buffer
  }

  package func giveReadBuffer(_ buffer: consuming [UInt8]) { scratch = buffer }

  /// Lends the read buffer to `body`. A nested call from `body` gets a new buffer.
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

  /// The number of closed TLS connections that still send ciphertext, or wait for the peer's end (``LateFlush``).
  package internal(set) var closingCount = 0
  /// Called on the loop when ``closingCount`` has become 0. Set before the loop turns.
  package var whenNoneCloses: (() -> Void)?

  /// Keeps `object` alive while an operation of the kernel is pending for it. When the loop ends, the object is released even if
  /// the operation is still pending.
  func hold(_ object: AnyObject) { held[ObjectIdentifier(object)] = object }
  func letGo(_ object: AnyObject) { held[ObjectIdentifier(object)] = nil }

  /// Frees events and closes a descriptor. While the loop turns, a call on another thread traps, because the object of an event
  /// that fires at that moment would already be freed.
  func dispose(
    _ first: UnsafeMutablePointer<event>?, _ second: UnsafeMutablePointer<event>? = nil, descriptor: CInt = -1
  ) {
    preconditionOnLoop()
    // While no thread turns the loop, several threads may release its objects at the same time.
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
  /// Makes a libevent event of this loop. The event is not added yet.
  func makeEvent(
    _ descriptor: CInt, _ what: CInt, _ callback: @escaping event_callback_fn, _ argument: UnsafeMutableRawPointer?
  ) -> UnsafeMutablePointer<event> {
    let event = graveyard.withLock { _ in eventPlaces.take() }
    // `event_assign` fails only for flags that exclude each other and for timers with a descriptor, which would be mistakes in
    // this code.
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

/// Returns the calling thread. Never inlined, because the compiler may keep the value of `pthread_self()` across a suspension of
/// an async caller.
@inline(never)
private func currentThread() -> UInt { UInt(pthread_self()) }
