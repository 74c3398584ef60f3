import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlWire

/// A stored response as it goes out when nothing about the request is special: its head up to the fields that change
/// by the second, and what those are made of. Belongs to one route, whose policy it was made by.
final class HotAnswer: Sendable {
  let head: [UInt8]
  /// Wall clock, seconds: from then on the response is stale.
  let freshUntil: Int64
  /// Wall clock, seconds: when the response was made, as its `Age` counts.
  let bornAt: Int64
  /// Weak: after a reload another route may stand at the same address.
  private weak let route: RouteSettings?
  /// Whether the origin gave a `Date`; else each answer bears the time it leaves at.
  let hasDate: Bool

  private init(head: [UInt8], freshUntil: Int64, bornAt: Int64, route: RouteSettings, hasDate: Bool) {
    (self.head, self.freshUntil, self.bornAt, self.route) = (head, freshUntil, bornAt, route)
    self.hasDate = hasDate
  }

  /// The answer of `stored` on `route`, made once for each; `nil` where it depends on more than its URL.
  static func of(_ stored: StoredResponse, _ route: RouteSettings, now: Int64, hasCookie: Bool) -> HotAnswer? {
    let head = stored.head
    guard head.status == 200, head.implicitKey.isEmpty, head.isForEverybody || !hasCookie, !head.cacheControl.noCache,
      head.vary.names.isEmpty || (route.asksIdentity && head.vary.names == [Array("accept-encoding".utf8)]),
      !head.vary.isStar
    else { return nil }
    if let known = stored.rendered.withLock({ $0 }) as? HotAnswer, known.route === route {
      return known
    }
    let freshness = Freshness.evaluate(head, policy: route.policy, now: now)
    let made = HotAnswer(
      head: render(stored, route), freshUntil: now + freshness.ttl, bornAt: now - freshness.age,
      route: route, hasDate: head.fields.contains(.date))
    stored.rendered.withLock { $0 = made }
    return made
  }

  private static func render(_ stored: StoredResponse, _ route: RouteSettings) -> [UInt8] {
    var fields = stored.head.fields
    fields.removeAll(.age)
    // The same answer goes out in clear: this is put in where it goes out over TLS.
    if route.strictTransport != nil { StrictTransportField.remove(from: &fields) }
    if route.etag == .auto || stored.head.validators.tag?.isWeak == false {
      fields.set(.etag, EntityTag(strong: stored.body.primaryTag).bytes)
    }
    fields.set(.acceptRanges, "bytes")
    Via.append(to: &fields, version: .http11)
    var output: [UInt8] = []
    HeadWriter.write(
      ResponseHead(status: 200, fields: fields), framing: .length(stored.body.total ?? 0), connection: .keepAlive,
      into: &output)
    output.removeLast(2)
    return output
  }
}

extension ClientConnection {
  /// The shortest way: a plain GET of a small, fresh, complete body that is in memory. One parse (done), one look-up,
  /// one write; whatever is not exactly that takes the long way and is answered the same.
  func answerFromMemory(_ buffer: [UInt8]) -> Bool {
    guard isPlain, output.isEmpty, let route = hotRoute(buffer), let store = route.cache, !leavesSchemeOpen,
      let stored = find(in: store, buffer), let body = stored.body.inMemory,
      !facts.isMisdirected(buffer[listener.parser.authorityRange])
    else { return false }
    let now = owner.loop.wallSeconds
    guard
      let answer = HotAnswer.of(stored, route, now: now, hasCookie: listener.parser.contains(.cookie)),
      now < answer.freshUntil
    else { return false }
    store.noteUse(stored)
    send(answer, body, buffer, now, route)
    return true
  }

  /// Nothing in the request asks for more than the representation as it is.
  private var isPlain: Bool {
    let parser = listener.parser
    guard parser.isGet, parser.framing == .none, parser.version == .http11, parser.keepsAlive, !owner.isDraining,
      !parser.targetNeedsRewriting, parser.authorityIsLowercase
    else { return false }
    let special: [FieldName] = [
      .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl, .pragma,
      .authorization, .expect, .upgrade, .te,
    ]
    return !special.contains(where: parser.contains)
  }

  /// A trusted proxy says what its client speaks: it takes more than a look at the connection to know.
  private var leavesSchemeOpen: Bool { facts.isTrusted && listener.parser.contains(.xForwardedProto) }

  private func hotRoute(_ buffer: [UInt8]) -> RouteSettings? {
    owner.router.route(authority: buffer[listener.parser.authorityRange], target: buffer[listener.parser.targetRange])
  }

  private func find(in store: CacheStore, _ buffer: [UInt8]) -> StoredResponse? {
    let (authority, target) = (listener.parser.authorityRange, listener.parser.targetRange)
    let key = KeyAuthority.of(buffer[authority], isSecure: facts.isSecure)
    let resource = buffer.withUnsafeBytes { bytes in
      key.withUnsafeBytes { key in
        store.resource(authority: key, target: UnsafeRawBufferPointer(rebasing: bytes[target]))
      }
    }
    return resource?.withLock { state in state.isLoaded && state.variants.count == 1 ? state.variants[0] : nil }
  }

  private func send(_ answer: HotAnswer, _ body: [UInt8], _ buffer: [UInt8], _ now: Int64, _ route: RouteSettings) {
    var message = owner.takeHotBuffer()
    message.append(contentsOf: answer.head)
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
    let requestID = listener.parser.first(.xRequestID).map { Array(buffer[$0]) }
    let id = requestID ?? (owner.server.accessLog == nil ? nil : RequestID.make())
    if requestID == nil {
      message.append("\r\nX-Request-Id: " as StaticString)
      message.append(contentsOf: id ?? RequestID.make())
    }
    message.append("\r\n\r\n" as StaticString)
    message.append(contentsOf: body)
    transmit(message)
    if let log = owner.server.accessLog {
      log.write(hotRecord(buffer, id ?? [], bytes: body.count, route))
    }
    message.removeAll(keepingCapacity: true)
    owner.giveHotBuffer(message)
  }

  /// One write; what the socket does not take is queued like any answer's rest.
  private func transmit(_ message: [UInt8]) {
    var sent = 0
    if case .bytes(let count) = message.withUnsafeBytes({ stream.write($0, more: false) }) { sent = count }
    if sent == message.count { return setDeadline(after: listener.settings.keepaliveTimeout) }
    output = Array(message[sent...])
    (phase, hasResponded, persists, isHeadRequest) = (.exchanging, true, true, false)
    setDeadline(after: listener.settings.sendTimeout)
    pump()
  }

  private func hotRecord(_ buffer: [UInt8], _ id: [UInt8], bytes: Int, _ route: RouteSettings) -> AccessRecord {
    let parser = listener.parser
    var record = AccessRecord(time: owner.server.clock.wallMilliseconds(), remote: facts.text[...])
    record.method = buffer[parser.methodRange]
    record.target = buffer[parser.targetRange]
    record.status = 200
    record.bytes = UInt64(bytes)
    record.bytesFromCache = UInt64(bytes)
    record.referer = parser.first(.referer).map { range in
      UploadNames.redacted(buffer[range], owner.router.uploadPrefixes).map { $0[...] } ?? buffer[range]
    }
    record.userAgent = parser.first(.userAgent).map { buffer[$0] }
    record.durationMicros = UInt64(max(0, (owner.server.clock.now() - requestBegan).microseconds))
    record.requestID = id[...]
    record.note(facts.tls)
    record.host = buffer[parser.authorityRange]
    record.site = route.name
    record.upstream = route.upstreamName
    record.cacheOutcome = "hit"
    return record
  }
}
