import CLinux
package import PawlTLS

/// The state of a stream with TLS besides its socket.
///
/// Two flags are not part of `stage`, because both can be set in any stage. Each says that a call is planned for the next turn.
struct StreamProtection {
  let engine: TLSEngine
  var stage = Stage.open
  var willAnnounce = false
  var willFlush = false

  enum Stage: UInt8, Hashable, CaseIterable {
    case open
    /// Reading was started for the handshake, not by the user of the stream.
    case readingForHandshake
    /// FIN follows when all pending ciphertext has been sent.
    case ending
    case ended

    /// Notes that reading was started for the handshake.
    mutating func readingBegan() { if self == .open { self = .readingForHandshake } }

    /// Notes that the handshake has ended.
    /// - Returns: whether reading was started for the handshake only, and stops now.
    mutating func handshakeEnded() -> Bool { go(to: .open, from: [.readingForHandshake]) }

    /// Notes that the user of the stream will write nothing more.
    /// - Returns: `false` if this was noted before.
    mutating func ends() -> Bool { go(to: .ending, from: [.open, .readingForHandshake]) }

    /// Notes that all pending ciphertext has been sent.
    /// - Returns: whether FIN follows now.
    mutating func flushed() -> Bool { go(to: .ended, from: [.ending]) }

    private mutating func go(to next: Self, from known: [Self]) -> Bool {
      guard known.contains(self) else { return false }
      self = next
      return true
    }
  }
}

/// TLS on a stream. The user of the stream reads and writes in clear, as on any other stream.
extension SocketStream {
  /// Protects the stream with TLS from now on. Call this function before anything is written. Bytes that were read before do not
  /// belong to TLS.
  package func secure(_ engine: TLSEngine) {
    loop.preconditionOnLoop()
    guard !isClosed, protection == nil else { return }
    engine.attach(descriptor, loop.recordScratch)
    protection = StreamProtection(engine: engine)
  }

  /// Continues the handshake. The delegate's callbacks call this until it returns `done` or `failed`; this function itself asks
  /// for the readiness that it needs. Bytes that the client sent after its last handshake message are read as usual later.
  package func handshake() -> TLSEngine.Handshake {
    loop.preconditionOnLoop()
    guard let engine = protection?.engine else {
      return .failed(TLSFailure(.protocolError, "the connection is closed"))
    }
    if let failure { return .failed(TLSFailure(.protocolError, errorText(failure))) }
    let outcome = engine.handshake()
    watchForEngine()
    switch outcome {
    case .wantsRead:
      if !isReading {
        protection?.stage.readingBegan()
        startReading()
      }
    case .wantsWrite: wantWritable()
    case .done, .failed:
      if protection?.stage.handshakeEnded() == true { stopReading() }
      announceUnread()
    }
    return outcome
  }

  /// The result of the handshake; `nil` without TLS and before the end of the handshake.
  package var tls: TLSFacts? { protection?.engine.facts }

  /// Whether the stream has TLS. If so, written bytes are encrypted, and therefore copied.
  package var isProtected: Bool { protection != nil }

  /// The reason why reading failed with `EPROTO`: the alert of the peer, or the reason of the alert that pawl sent to the peer.
  /// Kept until the stream is closed.
  package var tlsFailure: TLSFailure? { protection?.engine.readFailure }

  /// The bytes of ciphertext that the kernel has not taken; 0 in clear. After ``wantWritable()``, the delegate is called only
  /// when all of them have been sent.
  package var bytesKept: Int { protection?.engine.pendingCount ?? 0 }

  /// Whether the TLS engine holds unread bytes that it has already taken from the socket, such as bytes after the last handshake
  /// message. The socket does not become readable for them.
  package var hasReadAhead: Bool { protection?.engine.hasUnread ?? false }

  /// Whether pending ciphertext waits for the socket. If `false`, any pending ciphertext does not wait for the socket, but for
  /// the next write.
  package var isFull: Bool { protection?.engine.isBlocked ?? false }

  // MARK: Reading

  func readProtected(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    guard let engine = protection?.engine else { return .failed(EBADF) }
    let result = IOResult(engine.read(into: buffer))
    watchForEngine()
    switch result {
    case .bytes: announceUnread()
    case .end where isReading: stopReading()
    case .end, .wouldBlock, .failed: break
    }
    return result
  }

  /// Plans a call of the delegate in the next turn if the engine holds unread bytes, because the socket does not become
  /// readable for them.
  func announceUnread() {
    guard isReading, let protection, !protection.willAnnounce, protection.engine.hasUnread else { return }
    self.protection?.willAnnounce = true
    loop.nextTurn { [weak self] in self?.announce() }
  }

  private func announce() {
    guard protection?.willAnnounce == true else { return }
    protection?.willAnnounce = false
    if isReading, protection?.engine.hasUnread == true { protectedReadable() }
  }

  func protectedReadable() {
    // Origins send session tickets at any time. These are not content, so the delegate is not called for them.
    if let engine = protection?.engine, engine.isClient, engine.facts != nil {
      let hasContent = engine.hasContent()
      watchForEngine()
      guard hasContent else { return }
    }
    tellReadable()
  }

  // MARK: Writing

  func writeProtected(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ more: Bool) -> IOResult {
    guard let engine = protection?.engine else { return .failed(EBADF) }
    let result = IOResult(engine.write(first, second, more: more, now: loop.now.nanoseconds))
    watchForEngine()
    return result
  }

  func sendFileProtected(_ fd: CInt, _ offset: UInt64, _ count: Int) -> IOResult {
    guard let engine = protection?.engine else { return .failed(EBADF) }
    let result = IOResult(engine.sendFile(fd, offset: offset, count: count, now: loop.now.nanoseconds))
    watchForEngine()
    return result
  }

  /// Called after each use of the engine. Makes sure that pending ciphertext is sent when the socket takes it.
  private func watchForEngine() {
    guard let protection, protection.engine.pendingCount > 0 else { return }
    if protection.engine.isBlocked { return addWriteEvent() }
    // The ciphertext is held back because the writer announced further bytes. It is sent with these bytes, or in the next turn.
    guard !protection.willFlush else { return }
    self.protection?.willFlush = true
    loop.nextTurn { [weak self] in
      self?.protection?.willFlush = false
      if self?.protection?.engine.isBlocked == false { self?.flushEngine() }
    }
  }

  /// Called when the socket takes bytes again. Sends pending ciphertext first.
  /// - Returns: `false` if some of the ciphertext is left.
  func flushProtected() -> Bool {
    guard let engine = protection?.engine, engine.isBlocked else { return true }
    return flushEngine()
  }

  @discardableResult
  private func flushEngine() -> Bool {
    guard let engine = protection?.engine else { return true }
    let isFlushed = engine.flush()
    watchForEngine()
    if isFlushed, protection?.stage.flushed() == true { shutdown(descriptor, pawl_SHUT_WR) }
    return isFlushed
  }

  // MARK: Ending

  /// Sends `close_notify` and FIN, after all pending ciphertext.
  func endProtected() {
    guard let engine = protection?.engine, protection?.stage.ends() == true else { return }
    wantsWritable = false
    engine.endWriting()
    if !engine.isBlocked { flushEngine() }
    watchForEngine()
    removeIdleWriteEvent()
  }

  /// Closes the stream. For the writer, the pending ciphertext in the engine counts as sent. So ``LateFlush`` still sends it,
  /// unless the peer takes nothing any more.
  func closeProtected() {
    guard let engine = protection?.engine else { return releaseAll() }
    engine.endWriting()
    if !engine.isBlocked { engine.flush() }
    let owesAlert = engine.readFailure?.kind == .protocolError
    guard engine.pendingCount > 0 || owesAlert else { return releaseAll() }
    let (reader, writer, socket) = (readEvent, writeEvent, descriptor)
    (readEvent, writeEvent, descriptor) = (nil, nil, -1)
    releaseState()
    loop.dispose(reader, writer)
    LateFlush.begin(engine, socket, on: loop)
    letGoOfDelegate()
  }
}

extension IOResult {
  init(_ step: TLSEngine.Step) {
    switch step {
    case .bytes(let count): self = .bytes(count)
    case .wouldBlock: self = .wouldBlock
    case .end: self = .end
    case .failed(let code): self = .failed(code)
    }
  }
}
