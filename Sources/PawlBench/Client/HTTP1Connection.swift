import PawlLoop

/// The HTTP/1.1 connection of one lane (a simulated client). It sends the next request only after the response to the last one.
final class HTTP1Connection: Link, Transport {
  private enum Reading { case nothing, head, counted(UInt64), chunked(ChunkReader), untilEnd }

  private let lane: Lane
  private var request: RequestText?
  private var reading = Reading.nothing
  /// The beginning of a response head that is not complete yet.
  private var carry: [UInt8] = []
  private var headSent = 0
  private var contentAt: UInt64 {
    get { lane.contentAt }
    set { lane.contentAt = newValue }
  }
  private var isStopped = false
  /// The number of complete responses on this connection. `isUntouched`: whether no byte of the next response has come.
  private var answers = 0
  private var isUntouched = true
  private var closes = false
  /// A number that changes when the connection is closed, so that remaining bytes of a closed connection are not parsed.
  private var epoch = 0

  init(_ worker: Worker, _ lane: Lane) {
    self.lane = lane
    super.init(worker)
  }

  // MARK: Sending

  func send(_ request: RequestText, for lane: Lane) {
    self.request = request
    (headSent, contentAt, isStopped) = (0, request.content.lowerBound, false)
    (reading, isUntouched, closes) = (.head, true, false)
    if phase == .open { push() } else { open() }
  }

  func cut(_ lane: Lane) {
    forget()
    close()
  }

  func goOnSending(_ lane: Lane) {
    isStopped = false
    if phase == .open { push() }
  }

  override func close() {
    answers = 0
    epoch &+= 1
    super.close()
  }

  override func opened() { if request != nil { push() } }

  override func openFailed(_ failure: Failure) { breakOff(failure) }

  override func writable() { if request != nil { push() } }

  /// Sends as much of the head and the content as the socket takes.
  private func push() {
    guard let request, let stream else { return }
    var budget = 1 << 20
    while headSent < request.bytes.count || contentAt < sendEnd(request) {
      guard budget > 0 else { return stream.wantWritable() }
      switch write(request, stream) {
      case .bytes(let count): budget -= note(count, request)
      case .wouldBlock: return stream.wantWritable()
      // The server may have sent its response before it closed the connection. The next read shows this.
      case .end, .failed: return
      }
    }
    guard let stop = request.stop, contentAt >= stop, contentAt < request.content.upperBound, !isStopped else { return }
    isStopped = true
    _ = lane.stopped()
  }

  private func sendEnd(_ request: RequestText) -> UInt64 {
    min(request.stop ?? request.content.upperBound, request.content.upperBound)
  }

  private func write(_ request: RequestText, _ stream: SocketStream) -> IOResult {
    let left = sendEnd(request) - contentAt
    return request.bytes.withUnsafeBytes { head in
      let head = UnsafeRawBufferPointer(rebasing: head[headSent...])
      guard left > 0, let body = worker.body else { return stream.write(head, more: false) }
      return body.withBytes(at: contentAt, atMost: left) { stream.write(head, $0, more: false) }
    }
  }

  private func note(_ count: Int, _ request: RequestText) -> Int {
    let ofHead = min(count, request.bytes.count - headSent)
    headSent += ofHead
    contentAt += UInt64(count - ofHead)
    if count > ofHead { lane.sent(count - ofHead) }
    return count
  }

  // MARK: Receiving

  override func readable() {
    let buffer = worker.buffer
    // A full buffer means that more bytes may be waiting. After four reads, other connections have their turn.
    for _ in 0..<4 {
      guard let stream else { return }
      switch stream.read(into: UnsafeMutableRawBufferPointer(buffer)) {
      case .bytes(let count):
        take(UnsafeBufferPointer(start: buffer.baseAddress, count: count))
        guard count == buffer.count else { return }
      case .wouldBlock: return
      case .end, .failed: return lost()
      }
    }
  }

  private func lost() {
    let wasKept = answers > 0
    close()
    guard let request else { return worker.tally.dropped += 1 }
    if case .untilEnd = reading { return complete() }
    // The server closed a persistent connection while the request was on its way, so the request is sent again (RFC 9112 §9.3.1).
    if isUntouched, wasKept, request.isRepeatable { return send(request, for: lane) }
    breakOff(.cut)
  }

  private func breakOff(_ failure: Failure) {
    forget()
    lane.broke(failure)
  }

  private func forget() {
    (request, reading) = (nil, .nothing)
    carry.removeAll(keepingCapacity: true)
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard request != nil else { return close() }  // No request is running.
    if isUntouched {
      isUntouched = false
      lane.came()
    } else {
      lane.lastActivity = worker.now
    }
    guard !carry.isEmpty else { return takeAll(bytes) }
    carry.append(contentsOf: bytes)
    carry.takeKept().withUnsafeBufferPointer { takeAll($0) }
  }

  private func takeAll(_ bytes: UnsafeBufferPointer<UInt8>) {
    var at = 0
    let before = epoch
    while at < bytes.count, epoch == before {
      let rest = UnsafeBufferPointer(rebasing: bytes[at...])
      guard let used = takePiece(rest) else { return }
      at += used
    }
  }

  /// Takes the next piece and returns its length; `nil` if nothing more may be parsed.
  private func takePiece(_ rest: UnsafeBufferPointer<UInt8>) -> Int? {
    switch reading {
    case .nothing:
      close()
      return nil
    case .head: return takeHead(rest)
    case .counted(let left):
      let count = Int(min(left, UInt64(rest.count)))
      reading = .counted(left - UInt64(count))
      guard lane.content(UnsafeBufferPointer(rebasing: rest[..<count])) else { return nil }
      if UInt64(count) == left { complete() }
      return count
    case .untilEnd: return lane.content(rest) ? rest.count : nil
    case .chunked(var reader):
      let step = reader.next(rest, from: 0)
      reading = .chunked(reader)
      return follow(step, rest)
    }
  }

  private func follow(_ step: ChunkReader.Step, _ rest: UnsafeBufferPointer<UInt8>) -> Int? {
    switch step {
    case .more: return rest.count
    case .content(let start, let count):
      let content = UnsafeBufferPointer(rebasing: rest[start..<start + count])
      return lane.content(content) ? start + count : nil
    case .end(let next):
      complete()
      return next
    case .malformed:
      misread()
      return nil
    }
  }

  private func takeHead(_ rest: UnsafeBufferPointer<UInt8>) -> Int? {
    let bytes = rest.span
    let (head, end): (AnswerHead, Int)
    switch AnswerHead.parse(bytes) {
    case .head(let found, let count): (head, end) = (found, count)
    case .needMore where rest.count <= Self.headLimit:
      carry.append(contentsOf: rest)
      return nil
    case .needMore, .malformed:
      misread()
      return nil
    }
    guard let request else { return nil }
    let text = bytes.extracting(0..<end)
    if head.status < 200 { return lane.interim(head, text) ? end : nil }
    closes = head.closes
    reading = Self.framing(head, request)
    guard lane.head(head, text) else { return nil }
    if case .counted(0) = reading { complete() }
    return end
  }

  private static let headLimit = 256 << 10

  private static func framing(_ head: AnswerHead, _ request: RequestText) -> Reading {
    if request.isHead || head.status == 204 || head.status == 304 { return .counted(0) }
    if head.isChunked { return .chunked(ChunkReader()) }
    return head.length.map { .counted($0) } ?? .untilEnd
  }

  private func misread() {
    close()
    breakOff(.syntax)
  }

  /// Handles the end of the response.
  private func complete() {
    let isSent = request.map { headSent == $0.bytes.count && contentAt == $0.content.upperBound } ?? true
    answers += 1
    forget()
    if closes || !isSent { close() }
    lane.ended()
  }
}
