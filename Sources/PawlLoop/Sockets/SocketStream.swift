import CLibevent
import CLinux
import PawlBase
import PawlTLS

/// A non-blocking stream socket on one loop. The user of the stream reads and writes by system calls; libevent only reports
/// readiness. The read event stays added while reading is on. The write event is added when a write would have blocked, and
/// removed after a ``StreamDelegate/streamWritable()`` that does not call ``wantWritable()`` again. So a request costs no
/// `epoll_ctl` unless a write would block.
package final class SocketStream {
  /// The receiver of callbacks: the delegate itself (``keep(_:)``), or a ``WeakDelegate`` that refers to it.
  private var told: (any StreamDelegate)?
  package let loop: EventLoop
  var readEvent: UnsafeMutablePointer<event>?
  var writeEvent: UnsafeMutablePointer<event>?
  /// The state of TLS; `nil` in clear.
  @exclusivity(unchecked) var protection: StreamProtection?
  var descriptor: CInt
  /// The `errno` if the kernel refused to watch the socket; otherwise `nil`.
  var failure: CInt?
  @exclusivity(unchecked) package internal(set) var isReading = false
  var wantsWritable = false
  var writeEventIsAdded = false
  /// Whether the socket is served before others the next time it is readable.
  @exclusivity(unchecked) private var isExpecting = false

  /// Takes over a socket that a ``Listener`` has accepted, and whose options are set already.
  package init(accepted fd: CInt, loop: EventLoop) { (descriptor, self.loop) = (fd, loop) }

  /// Takes over a connected socket: makes it non-blocking and, for TCP, sets `TCP_NODELAY`.
  /// - Parameter peer: the peer's address, if it is known. For a unix socket, which has no `TCP_NODELAY`, this saves a system
  ///   call.
  package convenience init(adopting fd: CInt, loop: EventLoop, peer: SocketAddress? = nil) {
    self.init(accepted: fd, loop: loop)
    let flags = pawl_fcntl(fd, F_GETFL, 0)
    if flags >= 0, flags & O_NONBLOCK == 0 { _ = pawl_fcntl(fd, F_SETFL, flags | O_NONBLOCK) }
    if peer?.isUnix != true { setSocketOption(fd, CInt(IPPROTO_TCP), TCP_NODELAY, 1) }
  }

  deinit { releaseAll() }

  /// The object that is called when the socket is ready. The reference is weak and not unowned, because a stream that outlives
  /// its delegate must not crash the process.
  package var delegate: (any StreamDelegate)? {
    get { (told as? WeakDelegate).map(\.target) ?? told }
    set { told = newValue.map(WeakDelegate.init) }
  }

  /// Sets the delegate and keeps it alive until the stream is closed or gets another delegate. A connection that lives as long as
  /// its stream then needs no weak reference, which would take 48 bytes.
  package func keep(_ delegate: any StreamDelegate) {
    if isClosed { self.delegate = delegate } else { told = delegate }
  }

  package var isClosed: Bool { descriptor < 0 }

  /// The descriptor of the socket, for look-ups and tests; -1 when closed. The stream stays responsible for closing it.
  package var rawDescriptor: CInt { descriptor }

  // MARK: Reading

  /// Reads the bytes that have arrived, at most the size of the buffer. After ``IOResult/end`` reading is stopped; writing may go
  /// on.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    if let failure { return .failed(failure) }
    guard buffer.count > 0 else { return .bytes(0) }
    if protection != nil { return readProtected(into: buffer) }
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 {
        if isReading { stopReading() }  // After the end the socket stays readable for ever.
        return .end
      }
      if let outcome = outcome(of: pawl_errno()) { return outcome }
    }
  }

  /// Starts reading. ``StreamDelegate/streamReadable()`` is called whenever there is something to read, also when the peer has
  /// ended its side.
  package func startReading() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    if !isReading {
      let event = readEvent ?? makeEvent(EV_READ | EV_PERSIST, onReadable)
      readEvent = event
      isReading = true
      if event_add(event, nil) != 0 { watchingFailed() }
    }
    if protection != nil { announceUnread() }
  }

  package func stopReading() {
    loop.preconditionOnLoop()
    guard isReading, let readEvent else { return }
    isReading = false
    event_del(readEvent)
  }

  /// Notes that a request was sent on this connection. The loop then serves its response before other sockets
  /// (``AwaitedResponses``).
  package func awaitResponse() {
    loop.preconditionOnLoop()
    guard isReading, !isExpecting, let readEvent else { return }
    isExpecting = loop.expect(readEvent)
  }

  private func expectNoMore() {
    guard isExpecting else { return }
    isExpecting = false
    loop.expectNoMore(readEvent)
  }

  // MARK: Writing

  /// Writes bytes.
  /// - Parameter more: whether further bytes follow at once, so that the kernel fills its packets (`MSG_MORE`).
  package func write(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
    if let failure { return .failed(failure) }
    guard bytes.count > 0 else { return .bytes(0) }
    if protection != nil { return writeProtected(bytes, Self.nothing, more) }
    while true {
      let count = send(descriptor, bytes.baseAddress, bytes.count, sendFlags(more: more))
      if count >= 0 { return .bytes(count) }
      if let outcome = outcome(of: pawl_errno()) { return outcome }
    }
  }

  /// Writes both pieces, in this order, with one system call.
  package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, more: Bool) -> IOResult {
    if let failure { return .failed(failure) }
    guard first.count + second.count > 0 else { return .bytes(0) }
    if protection != nil { return writeProtected(first, second, more) }
    var pieces = (
      iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
    )
    return withUnsafeMutableBytes(of: &pieces) { raw in
      var message = msghdr()
      message.msg_iov = raw.baseAddress?.assumingMemoryBound(to: iovec.self)
      message.msg_iovlen = 2
      while true {
        let count = sendmsg(descriptor, &message, sendFlags(more: more))
        if count >= 0 { return .bytes(count) }
        if let outcome = outcome(of: pawl_errno()) { return outcome }
      }
    }
  }

  /// Sends bytes of a file without copying them through the process. The file's own position does not change. Blocks if the
  /// bytes are not in the page cache.
  package func sendFile(_ fd: CInt, offset: UInt64, count: Int) -> IOResult {
    if let failure { return .failed(failure) }
    guard !isClosed else { return .failed(EBADF) }
    guard count > 0 else { return .bytes(0) }
    if protection != nil { return sendFileProtected(fd, offset, count) }
    guard var position = off_t(exactly: offset) else { return .end }
    while true {
      let sent = sendfile(descriptor, fd, &position, count)
      if sent > 0 { return .bytes(sent) }
      if sent == 0 { return .end }
      if let outcome = outcome(of: pawl_errno()) { return outcome }
    }
  }

  /// Whether an error of ``sendFile(_:offset:count:)`` comes from the file, and not from the connection.
  package static func isOfFile(_ code: CInt) -> Bool {
    [EIO, EINVAL, EBADF, ENOSYS, EOVERFLOW, ESPIPE, ENOMEM].contains(code)
  }

  /// Asks for one ``StreamDelegate/streamWritable()`` when the socket takes bytes again.
  package func wantWritable() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    wantsWritable = true
    addWriteEvent()
  }

  func addWriteEvent() {
    guard !writeEventIsAdded, !isClosed else { return }
    let event = writeEvent ?? makeEvent(EV_WRITE | EV_PERSIST, onWritable)
    writeEvent = event
    writeEventIsAdded = true
    if event_add(event, nil) != 0 { watchingFailed() }
  }

  /// Cancels ``wantWritable()``.
  package func stopWanting() {
    loop.preconditionOnLoop()
    wantsWritable = false
    removeIdleWriteEvent()
  }

  /// The number of bytes that were written and that the peer has not acknowledged (TCP) or read (unix); 0 if this is not known.
  package func bytesUnsent() -> Int { isClosed ? 0 : bytesKept + max(0, Int(pawl_bytes_unsent(descriptor))) }

  // MARK: Ending

  /// Ends this side of the connection (FIN) after the bytes that were written. Reading goes on.
  package func shutdownWrite() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    if protection != nil { return endProtected() }
    stopWanting()
    shutdown(descriptor, pawl_SHUT_WR)
  }

  /// Closes the socket and frees its events. The delegate may call this function in its own callbacks. After that, the delegate
  /// is not called any more.
  package func close() {
    loop.preconditionOnLoop()
    if protection != nil { return closeProtected() }
    releaseAll()
  }

  /// Closes the socket like ``close()``, but the peer gets a reset (`SO_LINGER` 0), and unsent bytes are dropped.
  package func reset() {
    loop.preconditionOnLoop()
    guard !isClosed else { return }
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    releaseAll()
  }

  // MARK: Addresses and options

  package var peer: SocketAddress? { isClosed ? nil : socketAddress(descriptor, pawl_getpeername) }
  package var local: SocketAddress? { isClosed ? nil : socketAddress(descriptor, pawl_getsockname) }

  /// Sets `SO_RCVBUF` and `SO_SNDBUF` in bytes. The kernel accounts for twice as much, and does not adapt the sizes any more.
  package func setBuffers(receive: Int? = nil, send: Int? = nil) {
    if let receive { setSocketOption(descriptor, SOL_SOCKET, SO_RCVBUF, CInt(clamping: receive)) }
    if let send { setSocketOption(descriptor, SOL_SOCKET, SO_SNDBUF, CInt(clamping: send)) }
  }

  // MARK: Inside

  static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  private func sendFlags(more: Bool) -> CInt {
    pawl_MSG_NOSIGNAL | (more ? pawl_MSG_MORE : 0)
  }

  /// Returns what an `errno` means; `nil` if a signal interrupted the call, which the caller then repeats.
  private func outcome(of code: CInt) -> IOResult? {
    switch code {
    case EINTR: nil
    case EAGAIN: .wouldBlock
    default: .failed(code)
    }
  }

  private func makeEvent(_ what: CInt, _ callback: @escaping event_callback_fn) -> UnsafeMutablePointer<event> {
    loop.makeEvent(descriptor, what, callback, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Handles the case that the kernel cannot watch one more socket. The delegate sees a failed connection.
  private func watchingFailed() {
    failure = pawl_errno() == 0 ? EIO : pawl_errno()
    loop.nextTurn { [weak self] in
      guard let self, !isClosed else { return }
      told?.streamReadable()
      if !isClosed { told?.streamWritable() }
    }
  }

  fileprivate func becameReadable() {
    expectNoMore()
    loop.noteReady()
    if protection != nil { return protectedReadable() }
    tellReadable()
  }

  func tellReadable() { told?.streamReadable() }

  fileprivate func becameWritable() {
    loop.noteReady()
    if protection != nil, !flushProtected() { return }
    if wantsWritable {
      wantsWritable = false
      told?.streamWritable()
    }
    removeIdleWriteEvent()
  }

  func removeIdleWriteEvent() {
    guard writeEventIsAdded, !wantsWritable, protection?.engine.isBlocked != true, let writeEvent else { return }
    writeEventIsAdded = false
    event_del(writeEvent)
  }

  func releaseAll() {
    guard descriptor >= 0 else { return }
    expectNoMore()
    let (reader, writer, socket) = (readEvent, writeEvent, descriptor)
    (readEvent, writeEvent, descriptor) = (nil, nil, -1)
    releaseState()
    loop.dispose(reader, writer, descriptor: socket)
    letGoOfDelegate()
  }

  /// Releases the delegate. This is the last step: the delegate may be the only object that keeps this stream alive.
  func letGoOfDelegate() { _ = take(&told) }

  func releaseState() { (isReading, wantsWritable, writeEventIsAdded, protection) = (false, false, false, nil) }
}

// Safe: a stream frees its events in close and deinit, so the stream exists when one of them fires. The stream is kept alive
// during its own callback, in which its user may release it.

private func onReadable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  let stream = Unmanaged<SocketStream>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(stream) { stream.becameReadable() }
}

private func onWritable(_: CInt, _: Int16, argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  let stream = Unmanaged<SocketStream>.fromOpaque(argument).takeUnretainedValue()
  withExtendedLifetime(stream) { stream.becameWritable() }
}
