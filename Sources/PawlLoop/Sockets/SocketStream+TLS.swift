import CLinux
package import PawlTLS

/// What a protected stream has besides its socket.
///
/// Two flags are left: either is a call that is on its way to the next turn, and both may be.
struct StreamProtection {
  let engine: TLSEngine
  var stage = Stage.open
  var willAnnounce = false
  var willFlush = false

  enum Stage: UInt8, Hashable, CaseIterable {
    case open
    /// Reading was started for the handshake, not by the stream's owner.
    case readingForHandshake
    /// FIN goes out when all that is kept has gone.
    case ending
    case ended

    /// The handshake needs to read, and nobody does.
    mutating func readingBegan() { if self == .open { self = .readingForHandshake } }

    /// - Returns: whether reading was started for it alone.
    mutating func handshakeEnded() -> Bool { go(to: .open, from: [.readingForHandshake]) }

    /// The owner writes no more; `false`: it has said so before.
    mutating func ends() -> Bool { go(to: .ending, from: [.open, .readingForHandshake]) }

    /// All that was kept has gone. - Returns: whether FIN follows now.
    mutating func flushed() -> Bool { go(to: .ended, from: [.ending]) }

    private mutating func go(to next: Self, from known: [Self]) -> Bool {
      guard known.contains(self) else { return false }
      self = next
      return true
    }
  }
}

/// TLS on a stream: its users see bytes in clear, as on any other.
extension SocketStream {
  /// From now on what goes over the socket is protected. Before anything was written; what was read before is not of it.
  package func secure(_ engine: TLSEngine) {
    loop.preconditionOnLoop()
    guard !isClosed, protection == nil else { return }
    engine.attach(descriptor, loop.recordScratch)
    protection = StreamProtection(engine: engine)
  }

  /// Goes on with the handshake: from the delegate's callbacks, until it is `done` or has failed. Asks for the
  /// readiness it needs by itself. What the client sent behind its last flight is read as usual afterwards.
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

  /// What the handshake came to; `nil` in clear and before its end.
  package var tls: TLSFacts? { protection?.engine.facts }

  /// Whether what is written is encrypted on its way, and so copied.
  package var isProtected: Bool { protection != nil }

  /// Why reading failed with `EPROTO`, until the stream is closed: the peer's alert, or what it was sent one for.
  package var tlsFailure: TLSFailure? { protection?.engine.readFailure }

  /// Ciphertext that the kernel has not taken, in bytes; 0 in clear. While there is some, ``wantWritable()`` is
  /// answered when all of it has gone.
  package var bytesKept: Int { protection?.engine.pendingCount ?? 0 }

  /// Whether bytes are here that have left the socket, so that its readiness does not tell of them: what came behind the
  /// handshake.
  package var hasReadAhead: Bool { protection?.engine.hasUnread ?? false }

  /// Whether some of that waits for the socket, and not for what is written next.
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

  /// What the socket's readiness does not tell: bytes that have left it. On the next turn.
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
    // Origins send session tickets whenever they like: nothing for anybody who waits for content, or for silence.
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

  /// After the engine was at work: what it keeps has to go when it can.
  private func watchForEngine() {
    guard let protection, protection.engine.pendingCount > 0 else { return }
    if protection.engine.isBlocked { return addWriteEvent() }
    // Held back for what the writer said would follow: it goes with it, or by itself.
    guard !protection.willFlush else { return }
    self.protection?.willFlush = true
    loop.nextTurn { [weak self] in
      self?.protection?.willFlush = false
      if self?.protection?.engine.isBlocked == false { self?.flushEngine() }
    }
  }

  /// The socket takes bytes again: first what is kept. `false` when there is more of it than it took.
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

  /// `close_notify` and FIN, behind all that is kept.
  func endProtected() {
    guard let engine = protection?.engine, protection?.stage.ends() == true else { return }
    wantsWritable = false
    engine.endWriting()
    if !engine.isBlocked { flushEngine() }
    watchForEngine()
    removeIdleWriteEvent()
  }

  /// What the engine keeps was taken from its user as sent: it still goes, unless the peer takes nothing any more.
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
