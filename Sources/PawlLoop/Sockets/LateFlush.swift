import CLibevent
import CLinux
import PawlTLS

/// Finishes a TLS connection that was closed while ciphertext waited for the socket. Bytes that `write` accepted are still sent
/// as long as the peer reads, as the kernel does for connections in clear. After that, or if the peer violated the rules of TLS,
/// a lingering close follows: further input is read and dropped for a while, because the kernel would otherwise answer it with a
/// reset, which can overtake the last bytes.
final class LateFlush {
  /// After this time without progress the remaining bytes are dropped.
  static let patience = Duration.seconds(5)
  /// The longest time for sending the remaining bytes, with or without progress.
  static let limit = Duration.seconds(30)
  /// How long pawl waits for the peer's FIN after the last byte was sent. `lingerBytes`: the most bytes of input that are dropped
  /// during this time.
  static let lingerTime = Duration.seconds(2)
  static let lingerBytes = 256 << 10

  /// The most connections of one loop in this state at a time. A further connection is ended at once by a reset.
  static let maxCount = 64

  private let loop: EventLoop
  private let engine: TLSEngine
  private var descriptor: CInt
  private var event: UnsafeMutablePointer<event>?
  private var timer: LoopTimer?
  private let end: Monotonic
  private var dropped = 0
  private var isOver = false

  /// Begins to finish a connection, and takes over its descriptor.
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
  // Safe: as in `onLateWritable`.
  let flush = Unmanaged<LateFlush>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(flush) { flush.becameReadable() }
}

private func onLateWritable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: the object frees the event before it ends. The object is kept alive during its own callback.
  let flush = Unmanaged<LateFlush>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(flush) { flush.becameWritable() }
}
