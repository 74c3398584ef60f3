import CNGHTTP2
import PawlHTTP
import PawlLoop
import PawlWire

/// An HTTP/2 connection that carries the exchanges of several lanes, each on a stream of its own.
final class HTTP2Connection: Link, Transport {
  private var lanes: [Lane] = []
  private var session: OpaquePointer?
  /// Lanes whose requests wait for a connection.
  private var waiting: [Lane] = []
  /// The response head that is being received, written as text like in HTTP/1.1.
  private var head: [UInt8] = []
  private var lines: [nghttp2_nv] = []
  private var output: [UInt8] = []
  private var outputSent = 0
  private var isReceiving = false
  private var willFlush = false
  private var isLeaving = false
  private var lastReceived: UInt64 = 0
  /// Lanes that have sent their content up to ``RequestText/stop``.
  private var stopped: [Lane] = []

  private static let gathered = 64 << 10

  func add(_ lane: Lane) { lanes.append(lane) }

  private func lane(of stream: Int32) -> Lane? { stream == 0 ? nil : lanes.first { $0.stream == stream } }

  // MARK: Sending

  func send(_ request: RequestText, for lane: Lane) {
    lane.stream = 0
    (lane.contentAt, lane.hasAnswer) = (request.content.lowerBound, false)
    guard phase == .open, !isLeaving else {
      waiting.append(lane)
      if phase == .closed { open() }
      return
    }
    submit(request, lane)
  }

  func cut(_ lane: Lane) {
    waiting.removeAll { $0 === lane }
    guard lane.stream != 0, let session else { return }
    nghttp2_submit_rst_stream(session, 0, lane.stream, NGHTTP2_CANCEL.rawValue)
    lane.stream = 0
    if worker.now > lastReceived + UInt64(worker.settings.timeout * 1e9) { return loseAll(.timeout) }
    flushSoon()
  }

  func goOnSending(_ lane: Lane) {
    guard let session, lane.stream != 0 else { return }
    nghttp2_session_resume_data(session, lane.stream)
    flushSoon()
  }

  override func opened() {
    if worker.server.tls != nil, stream?.tls?.applicationProtocol != Array("h2".utf8) { return loseAll(.handshake) }
    session = HTTP2Callbacks.makeSession(self)
    lastReceived = worker.now
    submitWaiting()
  }

  override func openFailed(_ failure: Failure) { loseAll(failure) }

  override func close() {
    if let session { nghttp2_session_del(session) }
    (session, isLeaving, outputSent) = (nil, false, 0)
    output.removeAll(keepingCapacity: true)
    stopped.removeAll()
    super.close()
  }

  override func writable() { flush() }

  private func submitWaiting() {
    let ready = waiting
    waiting = []
    for lane in ready { if let request = lane.request { submit(request, lane) } }
    flushSoon()
  }

  private func submit(_ request: RequestText, _ lane: Lane) {
    guard let session else { return }
    lines.removeAll(keepingCapacity: true)
    let stream = request.bytes.withUnsafeBufferPointer { text -> Int32 in
      let scheme: StaticString = worker.server.tls == nil ? "http" : "https"
      lines.append(nghttp2_nv(":method", text[request.method]))
      lines.append(nghttp2_nv(":scheme", scheme.bytes[...]))
      lines.append(nghttp2_nv(":authority", text[request.authority]))
      lines.append(nghttp2_nv(":path", text[request.target]))
      for line in request.lines { lines.append(nghttp2_nv(text[line.name], text[line.value])) }
      guard !request.content.isEmpty else {
        return nghttp2_submit_request(session, nil, lines, lines.count, nil, nil)
      }
      var content = HTTP2Callbacks.content
      return nghttp2_submit_request(session, nil, lines, lines.count, &content, nil)
    }
    guard stream > 0 else {
      // No further stream can be opened on this connection.
      isLeaving = true
      waiting.append(lane)
      return leaveIfDone()
    }
    lane.stream = stream
    flushSoon()
  }

  /// Copies content for nghttp2. Returns `nil` if nothing may be sent now.
  func copyContent(_ stream: Int32, to target: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)? {
    guard let lane = lane(of: stream), let request = lane.request, let body = worker.body else { return (0, true) }
    let end = min(request.stop ?? request.content.upperBound, request.content.upperBound)
    guard lane.contentAt < end || end == request.content.upperBound else {
      if !stopped.contains(where: { $0 === lane }) { stopped.append(lane) }
      return nil
    }
    let room = min(end - lane.contentAt, UInt64(target.count))
    let count = body.withBytes(at: lane.contentAt, atMost: room) { bytes in
      target.copyMemory(from: bytes)
      return bytes.count
    }
    lane.contentAt += UInt64(count)
    lane.sent(count)
    return (count, lane.contentAt == request.content.upperBound)
  }

  private func flushSoon() {
    guard !isReceiving, !willFlush else { return }
    willFlush = true
    worker.loop.nextTurn { [weak self] in
      self?.willFlush = false
      self?.worker.tick()
      self?.flush()
    }
  }

  private func flush() {
    while let session, let stream, phase == .open {
      if outputSent == output.count { gather(session) }
      guard outputSent < output.count else { break }
      let result = output.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...]), more: false)
      }
      switch result {
      case .bytes(let count): outputSent += count
      case .wouldBlock: return stream.wantWritable()
      case .end, .failed: return
      }
    }
    tellStopped()
  }

  private func gather(_ session: OpaquePointer) {
    output.removeAll(keepingCapacity: true)
    outputSent = 0
    var piece: UnsafePointer<UInt8>?
    withExtendedLifetime(self) {
      while output.count < Self.gathered {
        let count = nghttp2_session_mem_send(session, &piece)
        guard count > 0, let piece else { return }
        output.append(contentsOf: UnsafeBufferPointer(start: piece, count: count))
      }
    }
  }

  private func tellStopped() {
    let ready = stopped
    stopped = []
    for lane in ready where lane.stream != 0 { _ = lane.stopped() }
  }

  // MARK: Receiving

  override func readable() {
    let buffer = worker.buffer
    for _ in 0..<4 {
      guard let stream else { return }
      switch stream.read(into: UnsafeMutableRawBufferPointer(buffer)) {
      case .bytes(let count):
        lastReceived = worker.now
        guard take(UnsafePointer(buffer.baseAddress), count) else { return loseAll(.syntax) }
        if count == buffer.count { continue }
      case .wouldBlock: break
      case .end, .failed: return loseAll(.cut)
      }
      break
    }
    flush()
    if let session, nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, !isLeaving {
      return loseAll(.syntax)
    }
    leaveIfDone()
  }

  private func take(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
    guard let session else { return true }
    isReceiving = true
    let taken = withExtendedLifetime(self) { nghttp2_session_mem_recv(session, bytes, count) }
    isReceiving = false
    return taken >= 0
  }

  func beginHead() { head.removeAll(keepingCapacity: true) }

  func takeField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    if name.first == 0x3a {
      head.append(contentsOf: "HTTP/2 ".utf8)
    } else {
      head.append(contentsOf: name)
      head.append(0x3a)
    }
    head.append(contentsOf: value)
    head.append(0x0d)
    head.append(0x0a)
  }

  func endHead(_ stream: Int32, endsStream: Bool) {
    guard let lane = lane(of: stream) else { return }
    lane.came()
    guard !lane.hasAnswer else { return endsStream ? endContent(stream) : () }
    head.append(0x0d)
    head.append(0x0a)
    var own: [UInt8] = []
    swap(&own, &head)
    let goesOn = tellHead(own, lane)
    swap(&own, &head)
    if goesOn, endsStream { endContent(stream) }
  }

  private func tellHead(_ bytes: [UInt8], _ lane: Lane) -> Bool {
    let text = bytes.span
    guard case .head(let head, _) = AnswerHead.parse(text) else {
      cut(lane)
      lane.broke(.syntax)
      return false
    }
    if head.status < 200 { return lane.interim(head, text) }
    lane.hasAnswer = true
    return lane.head(head, text)
  }

  func takeContent(_ bytes: UnsafeBufferPointer<UInt8>, _ stream: Int32) {
    guard let lane = lane(of: stream) else { return }
    lane.lastActivity = worker.now
    _ = lane.content(bytes)
  }

  /// Handles the end of a response. If the request is not sent completely, its stream is reset.
  func endContent(_ stream: Int32) {
    guard let lane = lane(of: stream) else { return }
    if let request = lane.request, lane.contentAt < request.content.upperBound, let session {
      nghttp2_submit_rst_stream(session, 0, stream, NGHTTP2_NO_ERROR.rawValue)
    }
    lane.stream = 0
    lane.ended()
  }

  func noteClosed(_ stream: Int32, _ code: UInt32) {
    guard let lane = lane(of: stream), let request = lane.request else { return }
    lane.stream = 0
    // The server has not processed the request, so it can be sent again (RFC 9113 §8.7).
    if code == NGHTTP2_REFUSED_STREAM.rawValue, request.isRepeatable { return send(request, for: lane) }
    lane.broke(.cut)
  }

  /// Handles a request that was not sent. After the server's GOAWAY no stream can be opened, so the server has not seen the
  /// request. After an error that ends the connection, the lanes get that error instead.
  func noteUnsent(_ stream: Int32) {
    if isLeaving { noteClosed(stream, NGHTTP2_REFUSED_STREAM.rawValue) }
  }

  func noteGoAway() { isLeaving = true }

  // MARK: Ending

  /// Closes the connection after GOAWAY, as soon as the running exchanges have ended. Opens a new one if requests wait.
  private func leaveIfDone() {
    guard isLeaving, !lanes.contains(where: { $0.stream != 0 }) else { return }
    worker.loop.nextTurn { [weak self] in
      guard let self, isLeaving, !lanes.contains(where: { $0.stream != 0 }) else { return }
      close()
      if !waiting.isEmpty { open() }
    }
  }

  private func loseAll(_ failure: Failure) {
    close()
    let lost = lanes.filter { $0.stream != 0 } + waiting
    waiting = []
    for lane in lost { lane.stream = 0 }
    for lane in lost { lane.broke(failure) }
  }
}
