import PawlCache
import PawlHTTP
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// An ordinary upload that is spooled in full before the origin gets it (`plain-uploads = spool`).
///
/// A slow client does not occupy the origin, and a broken upload never reaches it. A complete upload becomes a
/// ``ForwardExchange`` with a known length.
final class SpooledForwardExchange: Exchange {
  private let request: IncomingRequest
  private let channel: any ResponseChannel
  private let spool: PlainSpool
  private let maxUpload: UInt64?
  private var content: SpooledContent?
  /// Whether the pool writes a piece. Content that comes meanwhile waits in ``pending``.
  private var flow = WriteFlow<Fields>.open
  private var pending = ChunkQueue()
  private var forward: ForwardExchange?

  init(_ request: IncomingRequest, channel: any ResponseChannel, spool: PlainSpool, maxUpload: UInt64?) {
    (self.request, self.channel, self.spool, self.maxUpload) = (request, channel, spool, maxUpload)
  }

  /// Whether the request's content may be spooled. `false` for upgrades, gRPC, and other requests whose content is a stream.
  static func takes(_ head: RequestHead) -> Bool {
    switch head.framing {
    case .none, .length(0), .untilClose: return false
    case .length, .chunked: break
    }
    let isIncremental = head.fields.only(.incremental).map { $0.trimmed.hasPrefix("?1") } ?? false
    return !isIncremental && !head.fields.contains(.upgrade) && !isGRPC(head.fields)
  }

  private static func isGRPC(_ fields: Fields) -> Bool {
    fields.only(.contentType).map { $0.prefix(16).equalsIgnoringCase("application/grpc") } ?? false
  }

  func start() {
    if case .length(let count) = request.head.framing {
      if let maxUpload, count > maxUpload { return refuse(413, "The content is larger than \(maxUpload) bytes.") }
      if count > spool.capacity { return refuse(413, "The content is larger than \(spool.capacity) bytes.") }
    }
    guard !OriginRequests.isLoop(request.head.fields) else {
      return channel.fail(request, ProxyError(.proxyLoopDetected))
    }
    guard let content = spool.makeFile(for: UploadClient.name(of: request)) else {
      request.loop.shared.failures.noteUpload(UploadStoreRefusal.full.why, request)
      return refuse(507, "There is no room for the content now.")
    }
    self.content = content
    if request.head.fields.contains(.expect), request.head.version.takesInterim {
      channel.interim(ResponseHead(status: 100, reason: Bytes("Continue")))
    }
  }

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !flow.isWriting else {
      pending.append(bytes)
      return false
    }
    return take(bytes)
  }

  /// Writes a piece of content. `false`: the caller has to wait until this piece is written before it passes the next one.
  private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let content else { return true }
    if let maxUpload, content.count + UInt64(bytes.count) > maxUpload {
      refuse(413, "The content is larger than \(maxUpload) bytes.")
      return true
    }
    if request.loop.expectsSlowWrites, writeInPool(Array(bytes), to: content) { return false }
    wasWritten(content.append(bytes, by: request.loop.loop.clock))
    return true
  }

  /// Writes in the pool, because the disk is slow. So this upload waits for the disk, but the loop does not.
  /// - Returns: `false` if the pool has stopped and writes nothing.
  private func writeInPool(_ bytes: [UInt8], to content: SpooledContent) -> Bool {
    let (loop, clock) = (request.loop, request.loop.loop.clock)
    let isBegun = loop.pool.run({ bytes.withUnsafeBytes { content.append($0, by: clock) } }, then: loop.loop) {
      [self] took in
      let next = flow.written()
      wasWritten(took)
      while !flow.isWriting, let (bytes, range) = pending.next(limit: .max) {
        _ = bytes.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[range])) }
      }
      if case .end(let trailers) = next { return requestBodyEnded(trailers) }
      if !flow.isWriting, self.content != nil { channel.resumeRequestBody() }
    }
    return isBegun && flow.writes()
  }

  /// - Parameter result: how long the write took, or why the bytes were refused.
  private func wasWritten(_ result: Result<Duration, UploadStoreRefusal>) {
    if case .failure(let refusal) = result, content != nil {
      request.loop.shared.failures.noteUpload(refusal.why, request)
    }
    switch result {
    case .success(let took): request.loop.noteWrite(took)
    case .failure where content == nil: break
    case .failure(.clientShare): refuse(429, "There is too much content of this client at once.")
    case .failure: refuse(507, "There is no room for the content now.")
    }
  }

  func requestBodyEnded(_ trailers: Fields) {
    guard !flow.ends(trailers), let content else { return }
    self.content = nil
    let forward = ForwardExchange(request, channel: channel, why: nil, content: content)
    self.forward = forward
    forward.start()
  }

  private func refuse(_ status: Int, _ sentence: String) {
    content = nil
    pending.removeAll()
    channel.drainRequestBody()
    var reply = Replies.plain(status: status, sentence: sentence)
    if status == 507 || status == 429 { reply.head.fields.append(.retryAfter, "60") }
    channel.reply(reply)
  }

  var contentPassedOn: UInt64? { forward?.contentPassedOn ?? 0 }

  func clientLeft() {
    content = nil
    pending.removeAll()
    forward?.clientLeft()
  }

  func responseSent() { forward?.responseSent() }
}
