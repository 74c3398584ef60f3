import CLibevent
import CLinux
import PawlTLS

/// A protected connection that its owner has closed while ciphertext waited for the socket: what the owner was told is
/// sent goes out as long as the peer reads, as the kernel does it for connections in clear.
final class LateFlush {
  /// Without progress for so long the rest is dropped.
  static let patience = Duration.seconds(5)
  /// Nothing is kept for longer, progress or not.
  static let limit = Duration.seconds(30)

  private let loop: EventLoop
  private let engine: TLSEngine
  private var descriptor: CInt
  private var event: UnsafeMutablePointer<event>?
  private var timer: LoopTimer?
  private let end: Monotonic

  static func begin(_ engine: TLSEngine, _ descriptor: CInt, on loop: EventLoop) {
    let flush = LateFlush(engine, descriptor, loop)
    loop.hold(flush)
    flush.watch()
  }

  private init(_ engine: TLSEngine, _ descriptor: CInt, _ loop: EventLoop) {
    (self.engine, self.descriptor, self.loop) = (engine, descriptor, loop)
    end = loop.now.advanced(by: Self.limit)
  }

  deinit { release() }

  private func watch() {
    let event = loop.makeEvent(
      descriptor, EV_WRITE | EV_PERSIST, onLateWritable, Unmanaged.passUnretained(self).toOpaque())
    self.event = event
    timer = loop.makeTimer { [weak self] in self?.finish() }
    timer?.schedule(after: Self.patience)
    if event_add(event, nil) != 0 { loop.nextTurn { [weak self] in self?.finish() } }
  }

  fileprivate func becameWritable() {
    let before = engine.pendingCount
    if engine.flush() || loop.now >= end { return finish() }
    if engine.pendingCount < before { timer?.schedule(after: Self.patience) }
  }

  private func finish() {
    release()
    timer = nil
    loop.letGo(self)
  }

  private func release() {
    let (event, socket) = (event, descriptor)
    (self.event, descriptor) = (nil, -1)
    if event != nil || socket >= 0 { loop.dispose(event, descriptor: socket) }
  }
}

private func onLateWritable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  // Safe: it frees the event before it ends; it is kept alive through its own callback.
  let flush = Unmanaged<LateFlush>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(flush) { flush.becameWritable() }
}
