import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

extension HTTP1Connection {
  /// The most bytes of a file that the hot path sends. A ``CacheReader`` reads longer content piece by piece.
  static let hotLimit: UInt64 = 1 << 20

  /// Answers a plain GET of a fresh, complete body, or of one range of it, at once: the hot path.
  ///
  /// The bytes have to be in memory or in the page cache. The head is parsed already; what follows is one look-up and one write,
  /// or one write and a `sendfile`. For any other request this sends nothing and returns `false`; the caller makes an exchange,
  /// which gives the same answer.
  /// - Parameters:
  ///   - hasMore: whether more bytes follow the request in what was read.
  ///   - known: what the look-up found, for the caller to use when this returns `false`.
  func answerAtOnce(_ buffer: [UInt8], hasMore: Bool, known: inout LookedUp?) -> Bool {
    let connections = self.connections
    guard output.isEmpty, !connections.isDraining, let get = listener.withParser({ $0.plainGet() }) else {
      return false
    }
    guard !get.hasVia || !isLoop(buffer) else { return false }
    let found = connections.services.hotResponse(
      HotRequest(get, in: buffer), facts, known: &known, takesRecords: get.range == nil && get.ifRange == nil
    ) {
      get.range == nil && get.acceptsCodings ? codings(buffer) : nil
    }
    guard let hot = found else { return answerWithRecord(get, buffer, hasMore: hasMore, known: &known) }
    let asked = hot.answer.shape(range: get.range.map { buffer[$0] }, ifRange: get.ifRange.map { buffer[$0] })
    let (part, wanted): (ByteRange?, Range<UInt64>)
    switch asked {
    case .whole?: (part, wanted) = (nil, 0..<hot.answer.total)
    case .part(let range)?: (part, wanted) = (range, range.first..<range.end)
    default: return false
    }
    guard wanted.upperBound - wanted.lowerBound <= Self.hotLimit,
      let bytes = hot.stored.body.ready(wanted, isNamed: get.ifRange != nil, now: connections.loop.now)
    else { return false }
    hot.store.noteUse(hot.stored)
    var message = connections.takeHotBuffer()
    let newID = append(hot, part, to: &message, get, connections)
    let turn = HTTP1State.Turn(persists: get.keepsAlive, isClientsLast: !get.keepsAlive && !hasMore)
    let sent = HotAnswerSent(
      get: get, newID: newID, status: part == nil ? 200 : 206, bytes: wanted, route: hot.route, turn: turn)
    switch bytes {
    case .memory(let body): transmit(&message, body, buffer, sent)
    case .file(let slice): transmit(message, slice, buffer, sent, .response(hot))
    }
    message.removeAll(keepingCapacity: true)
    connections.giveHotBuffer(message)
    return true
  }

  /// Answers with a record at rest: a small response in a pack that is not loaded into memory. Returns `false` if the look-up
  /// found none, or if the response has to be compressed for this client.
  private func answerWithRecord(
    _ get: PlainGet, _ buffer: [UInt8], hasMore: Bool, known: inout LookedUp?
  ) -> Bool {
    let connections = self.connections
    guard let route = known?.route, known?.isRecord == true, let record = connections.services.room.hit else {
      return false
    }
    // The exchange looks the record up again.
    known = nil
    if HotAnswer.mayBeLearnt(record), get.acceptsCodings,
      route.compression?.seeks(at: connections.services.loop.wallSeconds) == true
    {
      return false
    }
    if HotAnswer.isCodable(record), get.acceptsCodings,
      codings(buffer).preferred(among: route.compression?.codings ?? []) != nil
    {
      return false
    }
    var message = connections.takeHotBuffer()
    message.append(contentsOf: record.head)
    let newID = append(HitFields(record, route, facts, connections), to: &message, get, connections)
    let turn = HTTP1State.Turn(persists: get.keepsAlive, isClientsLast: !get.keepsAlive && !hasMore)
    let sent = HotAnswerSent(
      get: get, newID: newID, status: 200, bytes: 0..<UInt64(record.count), route: route, turn: turn)
    if let slice = record.slice {
      transmit(message, slice, buffer, sent, .record(record))
    } else {
      transmit(&message, record.content, buffer, sent)
    }
    message.removeAll(keepingCapacity: true)
    connections.giveHotBuffer(message)
    return true
  }

  /// Whether the last parsed request has passed pawl before (a forwarding loop, which the Via field shows).
  private func isLoop(_ buffer: [UInt8]) -> Bool {
    listener.withParser { parser in
      var fields = Fields()
      for line in parser.lines where line.name == .via { fields.append(.via, buffer[line.valueRange]) }
      return OriginRequests.isLoop(fields)
    }
  }

  /// The content codings that the last parsed request accepts.
  private func codings(_ buffer: [UInt8]) -> AcceptEncoding {
    listener.withParser { parser in
      var codings = AcceptEncoding()
      for line in parser.lines where line.name == .acceptEncoding { codings.add(buffer[line.valueRange]) }
      return codings
    }
  }

  // MARK: - The head

  /// Appends the head of the answer.
  /// - Returns: the range of the generated request identifier in `message`; `nil` where the request had an identifier.
  private func append(
    _ hot: HotResponse, _ part: ByteRange?, to message: inout [UInt8], _ get: PlainGet, _ connections: LoopConnections
  ) -> Range<Int>? {
    let answer = hot.answer
    if let part {
      message.append(contentsOf: answer.partHead)
      message.append("Content-Range: bytes " as StaticString)
      message.append(decimal: part.first)
      message.append(0x2d)
      message.append(decimal: part.last)
      message.append(0x2f)
      message.append(decimal: answer.total)
      message.append("\r\nContent-Length: " as StaticString)
      message.append(decimal: part.count)
      message.append("\r\n" as StaticString)
    } else {
      message.append(contentsOf: answer.head)
    }
    return append(HitFields(hot, facts, connections), to: &message, get, connections)
  }

  /// Appends the fields that differ between answers, and the end of the head.
  private func append(
    _ fields: HitFields, to message: inout [UInt8], _ get: PlainGet, _ connections: LoopConnections
  ) -> Range<Int>? {
    if let value = fields.date {
      message.append("Date: " as StaticString)
      message.append(contentsOf: value)
      message.append("\r\n" as StaticString)
    }
    if let value = fields.strictTransport {
      message.append("Strict-Transport-Security: " as StaticString)
      message.append(contentsOf: value)
      message.append("\r\n" as StaticString)
    }
    if !get.keepsAlive { message.append("Connection: close\r\n" as StaticString) }
    message.append("Age: " as StaticString)
    message.append(decimal: fields.age)
    message.append(HitFields.cacheStatusLine)
    message.append(decimal: fields.timeToLive)
    var newID: Range<Int>?
    if get.requestID == nil {
      message.append("\r\nX-Request-Id: " as StaticString)
      connections.services.requestIDs.append(to: &message)
      newID = message.count - RequestID.count..<message.count
    }
    message.append("\r\n\r\n" as StaticString)
    return newID
  }

  /// The head at the beginning of a message, of which a part of the content may follow.
  private static func head(in message: [UInt8]) -> Bytes {
    let end = message.indices.first { index in
      message[index...].prefix(4).elementsEqual([0x0d, 0x0a, 0x0d, 0x0a])
    }
    return message.prefix(end.map { $0 + 4 } ?? message.count)
  }

  // MARK: - Sending

  /// Content of at most this many bytes is copied after the head and sent in the same write. Longer content is not copied.
  private static let copyLimit = 4 << 10

  private func transmit(_ message: inout [UInt8], _ body: [UInt8], _ buffer: [UInt8], _ sent: HotAnswerSent) {
    body.withUnsafeBytes { transmit(&message, $0, buffer, sent) }
  }

  private func transmit(
    _ message: inout [UInt8], _ body: UnsafeRawBufferPointer, _ buffer: [UInt8], _ sent: HotAnswerSent
  ) {
    let bytes = Int(sent.bytes.lowerBound)..<Int(sent.bytes.upperBound)
    // The FIN can leave in the same packet as the last bytes of the connection's last answer.
    let more = !sent.get.keepsAlive
    let result: IOResult
    if bytes.count <= Self.copyLimit {
      message.append(contentsOf: body[bytes])
      result = message.withUnsafeBytes { stream.write($0, more: more) }
    } else {
      result = message.withUnsafeBytes { head in
        stream.write(head, UnsafeRawBufferPointer(rebasing: body[bytes]), more: more)
      }
    }
    let all = bytes.count <= Self.copyLimit ? message.count : message.count + bytes.count
    var count = 0
    if case .bytes(let some) = result { count = some }
    guard count < all else { return wholeIsSent(message, buffer, sent) }
    if all > message.count { message.append(contentsOf: body[bytes]) }
    goOn(with: count..., of: message, nil, buffer, sent)
  }

  private func transmit(
    _ message: [UInt8], _ slice: FileSlice, _ buffer: [UInt8], _ sent: HotAnswerSent, _ source: HotSource
  ) {
    var run = FileRun(slice)
    var count = 0
    if case .bytes(let some) = message.withUnsafeBytes({ stream.write($0, more: true) }) { count = some }
    guard count == message.count else {
      return goOn(with: count..., of: message, run, buffer, sent, source)
    }
    while run.count > 0, case .bytes(let some) = stream.sendFile(run.descriptor, offset: run.offset, count: run.count) {
      run.advance(by: some)
    }
    guard run.count > 0 else { return wholeIsSent(message, buffer, sent) }
    goOn(with: message.count..., of: message, run, buffer, sent, source)
  }

  private func wholeIsSent(_ message: [UInt8], _ buffer: [UInt8], _ sent: HotAnswerSent) {
    guard stream.bytesKept == 0 || !sent.get.keepsAlive && !stream.isFull else {
      return goOn(with: message.count..., of: message, nil, buffer, sent)
    }
    if sent.get.keepsAlive { setDeadline(after: listener.settings.keepaliveTimeout) }
    let connections = self.connections
    let duration = connections.clock.now().microseconds(since: requestBegan)
    connections.counters.addHit(bytes: sent.count, microseconds: duration)
    if sent.status == 206 { countResumption(sent, buffer) }
    connections.logHit(
      HotRequest(sent.get, in: buffer), facts, sent.route, status: sent.status, sent: sent.count, duration
    ) { record in
      record.referer = listener.withParser({ $0.first(.referer) }).map { connections.services.shown(buffer[$0]) }
      record.userAgent = listener.withParser({ $0.first(.userAgent) }).map { connections.services.shown(buffer[$0]) }
      record.requestID = sent.id(message, buffer, connections.services)
      record.extras = connections.hitExtras(
        facts, requestLength: listener.withParser { $0.headLength }, head: Self.head(in: message)
      ) { name in
        listener.withParser { $0.first(named: name, in: buffer) }.map { buffer[$0] }
      }
    }
    guard !sent.get.keepsAlive else { return }
    state.begin(sent.turn)
    finishConnection()
  }

  /// Counts a range without an end as a download that the client goes on with.
  private func countResumption(_ sent: HotAnswerSent, _ buffer: [UInt8]) {
    guard sent.bytes.lowerBound > 0, let range = sent.get.range, buffer[range].last == 0x2d else { return }
    connections.counters.add(.clientResumedRange)
    connections.counters.add(.savedByClientResume, sent.bytes.lowerBound)
  }

  /// Sends the rest, which the socket did not take, as an ordinary answer: with the time limits and the log line of any other
  /// exchange.
  private func goOn(
    with rest: PartialRangeFrom<Int>, of message: [UInt8], _ run: FileRun?, _ buffer: [UInt8], _ sent: HotAnswerSent,
    _ source: HotSource = .memory
  ) {
    let request = connections.makeRequest(
      listener.withParser { $0.makeHead(buffer) }, facts: facts, began: requestBegan,
      id: Array(sent.id(message, buffer, connections.services)))
    request.record.status = sent.status
    request.record.cacheOutcome = .hit
    request.record.answeredAt = connections.loop.now
    request.record.bytesSent = sent.count
    request.record.bytesFromCache = sent.count
    request.record.announced = sent.count
    state.begin(sent.turn)
    state.respond()
    owed = .bytes(0)
    (self.request, exchange, output) = (request, HotExchange(source, from: sent.bytes.lowerBound), Array(message[rest]))
    if let run, run.count > 0 { unsentFile = .file(run) }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }
}

/// An answer that was sent, completely or in part, on the hot path.
private struct HotAnswerSent {
  /// The request; its ranges are positions in the buffer that was read.
  let get: PlainGet
  /// The range of the generated request identifier in the message; `nil`: the request had one.
  let newID: Range<Int>?
  let status: Int
  /// The range of the body that this answer contains.
  let bytes: Range<UInt64>
  let route: RouteSettings
  /// The state that the connection then gets, if the answer is not sent completely or is the connection's last.
  let turn: HTTP1State.Turn

  var count: UInt64 { bytes.upperBound - bytes.lowerBound }

  /// Returns the identifier for logs, without the secret of an upload's URL that a client may put into its own.
  func id(_ message: [UInt8], _ buffer: [UInt8], _ services: LoopServices) -> Bytes {
    newID.map { message[$0] } ?? get.requestID.map { services.shown(buffer[$0]) } ?? []
  }
}

/// The source of the content of an answer on the hot path.
enum HotSource {
  case memory
  /// A body's file.
  case response(HotResponse)
  /// A record at rest in a pack.
  case record(PackedHit)
}

/// The exchange of an answer that began on the hot path: only its bytes are still to be sent.
final class HotExchange: Exchange {
  /// The response whose file is being sent.
  private var hot: HotResponse?
  private var watch: FileWatch?
  private var proof: RecordProof?

  init(_ source: HotSource, from start: UInt64) {
    switch source {
    case .memory: break
    case .response(let hot): (self.hot, watch) = (hot, FileWatch(hot.stored.body, from: start))
    case .record(let record): proof = record.proof
    }
  }

  func look(at run: FileRun, isCopied: Bool, _ now: Monotonic) -> FileLook {
    // If the record was replaced, bytes of it that were sent may be wrong, and may not have reached the client yet. So the answer
    // ends.
    if let proof, !proof.holds(now: now) { return .spoilt }
    return watch?.look(at: run.position, isCopied: isCopied, now: now) ?? .same
  }

  /// Returns a reader for the rest of a run whose file has changed or is too short; `nil` for a record at rest.
  func reader(of run: FileRun, for request: IncomingRequest, on downloads: LoopDownloads) -> CacheReader? {
    guard let hot else { return nil }
    let left = run.position..<run.position + UInt64(run.count)
    let reader = CacheReader(
      [.body(left.lowerBound, through: left.upperBound)], of: hot.stored, for: request, in: hot.store,
      on: downloads)
    // The reader is made before the range is distrusted, because a body without readers and without valid bytes would be dropped.
    reader.distrust(left)
    return reader
  }

  func start() {}
  func clientLeft() {}
  func responseSent() {}
}
