import CXXHash
import PawlBase
import PawlLoop

/// The counts of the test origin over all connections, for `/count`.
struct OriginCounts: Hashable, Sendable {
  var connections: UInt64 = 0
  var downloads: UInt64 = 0
  /// Bytes of content that the kernel has taken.
  var sent: UInt64 = 0
  var uploads: UInt64 = 0
  var received: UInt64 = 0

  var json: String {
    "{\"connections\": \(connections), \"downloads\": \(downloads), \"sent\": \(sent), \"uploads\": \(uploads), "
      + "\"received\": \(received)}\n"
  }
}

/// The connection of one client to the test origin. It answers one request after the other.
final class OriginConnection: StreamDelegate {
  private enum State {
    case head
    case upload(left: UInt64), chunks(ChunkReader)
    /// The response waits for its delay, or is being sent.
    case waiting, answering
  }

  private let stream: SocketStream
  private let origin: OriginLoop
  private var state = State.head
  /// Received bytes that are not parsed yet: the beginning of a head, or bytes after the present request.
  private var carry: [UInt8] = []
  private var plan: (target: [UInt8], plan: OriginPlan)?
  private var head: [UInt8] = []
  private var headSent = 0
  private var content: Range<UInt64> = 0..<0
  private var closes = false
  private var isCut = false
  private var timer: LoopTimer?
  private var received: UInt64 = 0
  private let hash: OpaquePointer?

  init(_ stream: SocketStream, _ origin: OriginLoop) {
    (self.stream, self.origin) = (stream, origin)
    hash = XXH3_createState()
    stream.delegate = self
    stream.startReading()
  }

  deinit { XXH3_freeState(hash) }

  private func close() {
    stream.close()
    timer?.close()
    origin.remove(self)
  }

  // MARK: Reading

  func streamReadable() {
    switch stream.read(into: UnsafeMutableRawBufferPointer(origin.buffer)) {
    case .bytes(let count): take(UnsafeBufferPointer(start: origin.buffer.baseAddress, count: count))
    case .wouldBlock: break
    case .end, .failed: close()
    }
  }

  private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !carry.isEmpty else { return takeAll(bytes) }
    carry.append(contentsOf: bytes)
    carry.takeKept().withUnsafeBufferPointer { takeAll($0) }
  }

  private func takeAll(_ bytes: UnsafeBufferPointer<UInt8>) {
    var at = 0
    while at < bytes.count, !stream.isClosed {
      let rest = UnsafeBufferPointer(rebasing: bytes[at...])
      switch state {
      case .waiting, .answering: return carry.append(contentsOf: rest)
      case .head:
        guard let end = AnswerHead.end(in: rest.span) else {
          guard rest.count < 64 << 10 else { return close() }
          return carry.append(contentsOf: rest)
        }
        begin(rest.span.extracting(0..<end))
        at += end
      case .upload(let left):
        let count = Int(min(left, UInt64(rest.count)))
        store(UnsafeBufferPointer(rebasing: rest[..<count]))
        state = .upload(left: left - UInt64(count))
        at += count
        if UInt64(count) == left { finishUpload() }
      case .chunks(var reader):
        let step = reader.next(rest, from: 0)
        state = .chunks(reader)
        guard let used = follow(step, rest) else { return close() }
        at += used
      }
    }
  }

  private func follow(_ step: ChunkReader.Step, _ rest: UnsafeBufferPointer<UInt8>) -> Int? {
    switch step {
    case .more: return rest.count
    case .content(let start, let count):
      store(UnsafeBufferPointer(rebasing: rest[start..<start + count]))
      return start + count
    case .end(let next):
      finishUpload()
      return next
    case .malformed: return nil
    }
  }

  private func store(_ bytes: UnsafeBufferPointer<UInt8>) {
    received += UInt64(bytes.count)
    XXH3_64bits_update(hash, bytes.baseAddress, bytes.count)
  }

  private func begin(_ bytes: Span<UInt8>) {
    guard let request = OriginRequest(bytes) else { return close() }
    closes = request.closes
    isCut = false
    guard request.method == .other else { return beginDownload(request, bytes) }
    received = 0
    XXH3_64bits_reset(hash)
    if request.expectsContinue {
      Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).withUnsafeBytes { _ = stream.write($0, more: false) }
    }
    state = request.isChunked ? .chunks(ChunkReader()) : .upload(left: request.length)
    if !request.isChunked, request.length == 0 { finishUpload() }
  }

  private func finishUpload() {
    let digest = HashText.hexadecimal(XXH3_64bits_digest(hash))
    origin.counts.withLock { counts in
      counts.uploads += 1
      counts.received += received
    }
    let text = "\(received) \(digest)\n"
    answer(
      "HTTP/1.1 200 OK\r\nBench-Length: \(received)\r\nBench-XXH3: \(digest)\r\nContent-Type: text/plain\r\n"
        + "Cache-Control: no-store\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
  }

  private func answer(_ text: String) {
    head = Array(text.utf8)
    (headSent, content, state) = (0, 0..<0, .answering)
    push()
  }

  // MARK: Downloads

  private func beginDownload(_ request: OriginRequest, _ bytes: Span<UInt8>) {
    guard let plan = plan(bytes, request.target) else {
      return answerOther(bytes, request)
    }
    origin.counts.withLock { $0.downloads += 1 }
    (head, content) = plan.answer(request, bytes)
    headSent = 0
    if let cut = plan.cut, content.upperBound - content.lowerBound > cut {
      (content, isCut) = (content.lowerBound..<content.lowerBound + cut, true)
    }
    if request.method == .head { (content, isCut) = (0..<0, false) }
    guard plan.delay > 0 else {
      state = .answering
      return push()
    }
    state = .waiting
    let timer = origin.loop.makeTimer { [unowned self] in
      state = .answering
      push()
    }
    self.timer = timer
    timer.schedule(after: .milliseconds(Int64(plan.delay)))
  }

  private func answerOther(_ bytes: Span<UInt8>, _ request: OriginRequest) {
    if request.target.count == 6, bytes.begins(with: "/count", at: request.target.lowerBound) {
      let text = origin.counts.withLock { $0 }.json
      return answer(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
          + "Content-Length: \(text.utf8.count)\r\n\r\n" + (request.method == .head ? "" : text))
    }
    answer("HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n")
  }

  /// Returns the plan for a target. The last plan is kept and used again for the same target.
  private func plan(_ bytes: Span<UInt8>, _ target: Range<Int>) -> OriginPlan? {
    if let plan, plan.target.count == target.count,
      plan.target.indices.allSatisfy({ plan.target[$0] == bytes[target.lowerBound + $0] })
    {
      return plan.plan
    }
    var text: [UInt8] = []
    for at in target { text.append(bytes[at]) }
    plan = OriginPlan(String(decoding: text, as: UTF8.self)).map { (text, $0) }
    return plan?.plan
  }

  // MARK: Writing

  func streamWritable() { push() }

  private func push() {
    var budget = 2 << 20
    while headSent < head.count || !content.isEmpty {
      guard budget > 0 else { return stream.wantWritable() }
      switch write() {
      case .bytes(let count):
        budget -= count
        note(count)
      case .wouldBlock: return stream.wantWritable()
      case .end, .failed: return close()
      }
    }
    if closes || isCut { return close() }
    state = .head
    guard !carry.isEmpty else { return }
    origin.loop.nextTurn { [weak self] in self?.goOn() }
  }

  /// Continues with the bytes that came after the request.
  private func goOn() {
    guard !stream.isClosed, case .head = state else { return }
    carry.takeKept().withUnsafeBufferPointer { takeAll($0) }
  }

  private func write() -> IOResult {
    head.withUnsafeBytes { head in
      let head = UnsafeRawBufferPointer(rebasing: head[headSent...])
      guard !content.isEmpty else { return stream.write(head, more: false) }
      return origin.body.withBytes(at: content.lowerBound, atMost: content.upperBound - content.lowerBound) {
        head.isEmpty ? stream.write($0, more: false) : stream.write(head, $0, more: false)
      }
    }
  }

  private func note(_ count: Int) {
    let ofHead = min(count, head.count - headSent)
    headSent += ofHead
    guard count > ofHead else { return }
    content = content.lowerBound + UInt64(count - ofHead)..<content.upperBound
    origin.counts.withLock { $0.sent += UInt64(count - ofHead) }
  }
}
