import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlWire

extension ClientConnection {
  /// Octets of a file that the shortest way sends at most. What is longer is read by a ``CacheReader``, piece by piece.
  static let hotLimit: UInt64 = 1 << 20

  /// The shortest way: a plain GET of a fresh, complete body, or of one range of it, whose octets are at hand. One parse
  /// (done), one look-up, one write, or one and a `sendfile`; whatever is not exactly that takes the long way and is
  /// answered the same.
  func answerAtOnce(_ buffer: [UInt8]) -> Bool {
    guard output.isEmpty, !owner.isDraining, let get = listener.parser.plainGet(),
      !(get.namesScheme && facts.isTrusted),
      let route = owner.router.route(authority: buffer[get.authority], target: buffer[get.target]),
      let store = route.cache, !facts.isMisdirected(buffer[get.authority]), let stored = find(get, in: store, buffer)
    else { return false }
    let now = owner.loop.wallSeconds
    guard let answer = HotAnswer.of(stored, route, now: now), now < answer.freshUntil,
      answer.isForEverybody || !get.hasCookie
    else { return false }
    var part: ByteRange?
    if let range = get.range {
      part = RangeField.single(buffer[range], length: answer.total)
      guard part != nil else { return false }
    }
    let wanted = part.map { $0.first..<$0.end } ?? 0..<answer.total
    guard wanted.upperBound - wanted.lowerBound <= Self.hotLimit, let bytes = stored.body.ready(wanted) else {
      return false
    }
    store.noteUse(stored)
    let id = get.requestID == nil ? RequestID.make() : Array(buffer[get.requestID ?? 0..<0])
    var message = owner.takeHotBuffer()
    append(answer, part, to: &message, now: now, id: get.requestID == nil ? id : nil, route)
    let sent = HotAnswerSent(get: get, id: id, status: part == nil ? 200 : 206, bytes: wanted, route: route)
    switch bytes {
    case .memory(let body): transmit(&message, body, buffer, sent)
    case .file(let slice): transmit(message, slice, buffer, sent)
    }
    message.removeAll(keepingCapacity: true)
    owner.giveHotBuffer(message)
    return true
  }

  private func find(_ get: PlainGet, in store: CacheStore, _ buffer: [UInt8]) -> StoredResponse? {
    let resource = KeyAuthority.lend(buffer[get.authority], isSecure: facts.isSecure) { key in
      buffer.withUnsafeBytes { bytes in
        store.resource(authority: key, target: UnsafeRawBufferPointer(rebasing: bytes[get.target]))
      }
    }
    return resource?.withLock { state in state.isLoaded && state.variants.count == 1 ? state.variants[0] : nil }
  }

  // MARK: - The head

  /// - Parameter id: to be told to the client, who brought none.
  private func append(
    _ answer: HotAnswer, _ part: ByteRange?, to message: inout [UInt8], now: Int64, id: [UInt8]?, _ route: RouteSettings
  ) {
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
    if !answer.hasDate {
      message.append("Date: " as StaticString)
      message.append(contentsOf: owner.dateField)
      message.append("\r\n" as StaticString)
    }
    if facts.isSecure, let value = route.strictTransport {
      message.append("Strict-Transport-Security: " as StaticString)
      message.append(contentsOf: value)
      message.append("\r\n" as StaticString)
    }
    message.append("Age: " as StaticString)
    message.append(decimal: UInt64(max(0, now - answer.bornAt)))
    message.append("\r\nCache-Status: pawl; hit; ttl=" as StaticString)
    message.append(decimal: UInt64(answer.freshUntil - now))
    if let id {
      message.append("\r\nX-Request-Id: " as StaticString)
      message.append(contentsOf: id)
    }
    message.append("\r\n\r\n" as StaticString)
  }

  // MARK: - Sending

  /// Up to so many octets are copied behind the head, in one run; more are sent from where they are.
  private static let copyLimit = 4 << 10

  private func transmit(_ message: inout [UInt8], _ body: [UInt8], _ buffer: [UInt8], _ sent: HotAnswerSent) {
    let bytes = Int(sent.bytes.lowerBound)..<Int(sent.bytes.upperBound)
    let result: IOResult
    if bytes.count <= Self.copyLimit {
      message.append(contentsOf: body[bytes])
      result = message.withUnsafeBytes { stream.write($0, more: false) }
    } else {
      result = message.withUnsafeBytes { head in
        body.withUnsafeBytes { stream.write(head, UnsafeRawBufferPointer(rebasing: $0[bytes]), more: false) }
      }
    }
    let all = bytes.count <= Self.copyLimit ? message.count : message.count + bytes.count
    var count = 0
    if case .bytes(let some) = result { count = some }
    guard count < all else { return wholeIsSent(buffer, sent) }
    if all > message.count { message.append(contentsOf: body[bytes]) }
    goOn(with: Array(message[count...]), nil, buffer, sent)
  }

  private func transmit(_ message: [UInt8], _ slice: FileSlice, _ buffer: [UInt8], _ sent: HotAnswerSent) {
    var run = FileRun(slice)
    var count = 0
    if case .bytes(let some) = message.withUnsafeBytes({ stream.write($0, more: true) }) { count = some }
    guard count == message.count else { return goOn(with: Array(message[count...]), run, buffer, sent) }
    while run.count > 0, case .bytes(let some) = stream.sendFile(run.descriptor, offset: run.offset, count: run.count) {
      run.advance(by: some)
    }
    guard run.count > 0 else { return wholeIsSent(buffer, sent) }
    goOn(with: [], run, buffer, sent)
  }

  private func wholeIsSent(_ buffer: [UInt8], _ sent: HotAnswerSent) {
    guard stream.bytesKept == 0 else { return goOn(with: [], nil, buffer, sent) }
    setDeadline(after: listener.settings.keepaliveTimeout)
    guard let log = owner.server.accessLog else { return }
    log.write(hotRecord(buffer, sent))
  }

  /// What the socket does not take is the rest of an answer like any other's: with its limits, and its line in the log.
  private func goOn(with rest: [UInt8], _ run: FileRun?, _ buffer: [UInt8], _ sent: HotAnswerSent) {
    let request = owner.makeRequest(listener.parser.makeHead(buffer), facts: facts, began: requestBegan, id: sent.id)
    request.record.status = sent.status
    request.record.cacheOutcome = "hit"
    request.record.bytesSent = sent.count
    request.record.bytesFromCache = sent.count
    (phase, hasResponded, persists, isHeadRequest, clientVersion) = (.exchanging, true, true, false, .http11)
    (isChunked, isCloseDelimited, owed, source) = (false, false, 0, nil)
    (self.request, exchange, output) = (request, HotExchange(), rest)
    if let run, run.count > 0 { unsentFile = .file(run) }
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  private func hotRecord(_ buffer: [UInt8], _ sent: HotAnswerSent) -> AccessRecord {
    let parser = listener.parser
    var record = AccessRecord(time: owner.server.clock.wallMilliseconds(), remote: facts.text[...])
    record.method = buffer[parser.methodRange]
    record.target = buffer[sent.get.target]
    record.status = sent.status
    record.bytes = sent.count
    record.bytesFromCache = sent.count
    record.referer = parser.first(.referer).map { range in
      UploadNames.redacted(buffer[range], owner.router.uploadPrefixes).map { $0[...] } ?? buffer[range]
    }
    record.userAgent = parser.first(.userAgent).map { buffer[$0] }
    record.durationMicros = UInt64(max(0, (owner.server.clock.now() - requestBegan).microseconds))
    record.requestID = sent.id[...]
    record.note(facts.tls)
    record.host = buffer[sent.get.authority]
    record.site = sent.route.name
    record.upstream = sent.route.upstreamName
    record.cacheOutcome = "hit"
    return record
  }
}

/// An answer that went out, or began to, on the shortest way.
private struct HotAnswerSent {
  let get: PlainGet
  let id: [UInt8]
  let status: Int
  /// Of the body.
  let bytes: Range<UInt64>
  let route: RouteSettings

  var count: UInt64 { bytes.upperBound - bytes.lowerBound }
}

/// Stands for a request that needs nothing more but that its answer is sent.
private final class HotExchange: Exchange {
  func start() {}
  func clientLeft() {}
  func responseSent() {}
}
