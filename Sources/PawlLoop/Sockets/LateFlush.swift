import CLibevent
import CLinux
import PawlTLS

/// A protected connection that its owner has closed while ciphertext waited for the socket: what the owner was told is
/// sent goes out as long as the peer reads, as the kernel does it for connections in clear. Then, and where the peer broke
/// the rules of TLS, what else it sent is read and dropped for a while, as the kernel would answer it with a reset that
/// overtakes the last bytes.
final class LateFlush {
  /// Without progress for so long the rest is dropped.
  static let patience = Duration.seconds(5)
  /// Nothing is kept for longer, progress or not.
  static let limit = Duration.seconds(30)
  /// Behind the last byte, how long the peer's end is waited for, and how many bytes are dropped until it comes.
  static let lingerTime = Duration.seconds(2)
  static let lingerBytes = 256 << 10

  /// How many of one loop may be on their way out at the same time; one more ends at once, by a reset.
  static let maxCount = 64

  private let loop: EventLoop
  private let engine: TLSEngine
  private var descriptor: CInt
  private var event: UnsafeMutablePointer<event>?
  private var timer: LoopTimer?
  private let end: Monotonic
  private var dropped = 0
  private var isOver = false

  /// Takes over the descriptor.
  static func begin(_ engine: TLSEngine, _ descriptor: CInt, on loop: EventLoop) {
    guard loop.closingCount < maxCount else {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
      return loop.dispose(nil, descriptor: descriptor)
    }
    let flush = LateFlush(engine, descriptor, loop)
    loop.hold(flush)
    loop.closingCount += 1
    if engine.pendingCount > 0 {
      flush.watch(EV_WRITE, onLateWritable, for: patience)
    } else {
      flush.dropRest()
    }
  }

  private init(_ engine: TLSEngine, _ descriptor: CInt, _ loop: EventLoop) {
    (self.engine, self.descriptor, self.loop) = (engine, descriptor, loop)
    end = loop.now.advanced(by: Self.limit)
  }

  deinit { release() }

  private func watch(_ what: CInt, _ callback: @escaping event_callback_fn, for time: Duration) {
    let event = loop.makeEvent(
      descriptor, what | EV_PERSIST, callback, Unmanaged.passUnretained(self).toOpaque())
    self.event = event
    timer = loop.makeTimer { [weak self] in self?.finish() }
    timer?.schedule(after: time)
    if event_add(event, nil) != 0 { loop.nextTurn { [weak self] in self?.finish() } }
  }

  fileprivate func becameWritable() {
    let before = engine.pendingCount
    if engine.flush() { return dropRest() }
    if loop.now >= end { return finish() }
    if engine.pendingCount < before { timer?.schedule(after: Self.patience) }
  }

  private func dropRest() {
    shutdown(descriptor, pawl_SHUT_WR)
    loop.dispose(event)
    event = nil
    timer?.close()
    watch(EV_READ, onLateReadable, for: Self.lingerTime)
  }

  fileprivate func becameReadable() {
    let room = Self.lingerBytes - dropped
    let count = loop.withReadBuffer { recv(descriptor, $0.baseAddress, min($0.count, room), 0) }
    if count > 0 {
      dropped += count
      if dropped >= Self.lingerBytes { finish() }
    } else if count == 0 || (pawl_errno() != EAGAIN && pawl_errno() != EINTR) {
      finish()
    }
  }

  private func finish() {
    guard !isOver else { return }
    isOver = true
    release()
    timer = nil
    loop.letGo(self)
    loop.closingCount -= 1
    if loop.closingCount == 0 { loop.whenNoneCloses?() }
  }

  private func release() {
    let (event, socket) = (event, descriptor)
    (self.event, descriptor) = (nil, -1)
    if event != nil || socket >= 0 { loop.dispose(event, descriptor: socket) }
  }
}

private func onLateReadable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: as for ``onLateWritable``.
  let flush = Unmanaged<LateFlush>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(flush) { flush.becameReadable() }
}

private func onLateWritable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: it frees the event before it ends; it is kept alive through its own callback.
  let flush = Unmanaged<LateFlush>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(flush) { flush.becameWritable() }
}
