import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUpstream

/// Handles OPTIONS on a route that takes uploads. The client gets the origin's response with the fields that pawl adds
/// (UploadProtocols, "Discovery and cancellation", "tus", "tus and CORS"). If the origin does not support OPTIONS, pawl responds
/// by itself.
final class OptionsExchange: Exchange, OriginExchangeDelegate {
  /// The longest content that is relayed, in bytes.
  private static let bodyLimit = 1 << 20

  /// How long pawl waits for the origin: a client waits for this response before it sends anything.
  private static let patience = Duration.seconds(5)

  private let request: IncomingRequest
  private let channel: any ResponseChannel
  private var origin: OriginExchange?
  private var timer: LoopTimer?
  private var answer: ResponseHead?
  private var body: [UInt8] = []

  init(_ request: IncomingRequest, channel: any ResponseChannel) { (self.request, self.channel) = (request, channel) }

  func start() {
    guard !OriginRequests.isLoop(request.head.fields) else {
      return channel.fail(request, ProxyError(.proxyLoopDetected))
    }
    request.record.upstream = request.route.upstreamName
    var head = OriginRequests.forwarded(request)
    head.fields.removeAll(.expect)
    head.framing = .none
    var asked = OriginRequest(head: head, use: .passThrough)
    asked.holder = PlaceMarks.holder(of: request)
    origin = request.loop.pool(for: request.route.upstream).start(asked, delegate: self)
    let timer = request.loop.loop.makeTimer { [weak self] in self?.originIsSilent() }
    timer.schedule(after: Self.patience)
    self.timer = timer
  }

  private func originIsSilent() {
    guard !channel.hasResponded else { return }
    origin?.cancel()
    origin = nil
    reply(OptionsAnswer.own(request), [])
  }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    OriginProtocolLearning.learn(options: request, head)
    answer = OriginRequests.relayed(head)
    guard OptionsAnswer.isOwn(instead: head.status, request) else { return }
    // The exchange reads and drops the content by itself, so that the connection can be used again.
    origin = nil
    reply(OptionsAnswer.own(request), [])
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    request.loop.counters.add(channel.hasResponded ? .fromOriginWasted : .fromOriginNew, UInt64(bytes.count))
    guard !channel.hasResponded else { return }
    request.record.bytesFromOrigin += UInt64(bytes.count)
    guard body.count + bytes.count <= Self.bodyLimit else {
      exchange.cancel()
      origin = nil
      return channel.fail(request, ProxyError(.httpResponseBodySize))
    }
    body.append(contentsOf: bytes)
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    origin = nil
    guard !channel.hasResponded, let answer else { return }
    reply(OptionsAnswer.joined(answer, request), body)
  }

  /// Responds although the origin broke off. If no head came, or for a preflight, pawl responds by itself, because uploads are
  /// accepted even while the origin is down. Any other response is cut where the origin broke off.
  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    exchange.remedy = .other("pawl answers OPTIONS itself")
    guard !channel.hasResponded else { return }
    guard let answer, OptionsAnswer.preflight(request).count == 0 else { return reply(OptionsAnswer.own(request), []) }
    timer?.close()
    let end = BodyEnd(party: .origin, reason: failure.error.kind.rawValue)
    channel.respond(OptionsAnswer.joined(answer, request), length: .unknown, body: CutBody(MemoryBody(body), end))
  }

  private func reply(_ head: ResponseHead, _ body: [UInt8]) {
    timer?.close()
    channel.respond(head, length: .known(UInt64(body.count)), body: MemoryBody(body))
  }

  func clientLeft() {
    timer?.close()
    origin?.cancel()
    origin = nil
  }

  func responseSent() {}
}

/// The response to OPTIONS.
enum OptionsAnswer {
  /// Whether pawl responds by itself instead of relaying this status, because the origin does not support OPTIONS. Also `true`
  /// for any refusal of a preflight that pawl can answer: a preflight carries no credentials, so origins often refuse it.
  static func isOwn(instead status: Int, _ request: IncomingRequest) -> Bool {
    switch status {
    case 404, 405, 501: true
    case 200..<300: false
    default: status >= 400 && preflight(request).count > 0
    }
  }

  /// pawl's own response. The status is 200, not 204, because Apple's PhotoKit requires 200.
  static func own(_ request: IncomingRequest) -> ResponseHead {
    var head = ResponseHead(status: 200)
    head.fields.append(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    head.fields.append(.cacheControl, "no-store")
    return joined(head, request)
  }

  /// Returns the origin's response with pawl's fields added. If both have a list of the same name, the lists are merged.
  static func joined(_ answer: ResponseHead, _ request: IncomingRequest) -> ResponseHead {
    guard let uploads = request.route.uploads, (200..<300).contains(answer.status) else { return answer }
    var head = answer
    if head.status == 204 { (head.status, head.reason) = (200, []) }
    let version = InteropVersion.of(request.head.fields, allowsFinal: uploads.dispatch.allowsFinal)
    let limits = uploads.limits(now: request.loop.loop.wallSeconds)
    let discovery = UploadReplies.discovery(limits, version: version)
    for line in discovery.lines {
      let name = discovery.name(line)
      let isList = name.equalsIgnoringCase("accept-patch")
      put(name, discovery.value(line), joining: isList, into: &head.fields)
    }
    CORSPolicy.merge(preflight(request), into: &head.fields)
    return head
  }

  static func preflight(_ request: IncomingRequest) -> Fields {
    guard let uploads = request.route.uploads,
      request.isBelowPrefix || CORSPolicy.isAboutUploads(request.head.fields)
    else { return Fields() }
    return uploads.cors.preflight(request.head.fields)
  }

  /// Adds a field, unless the origin has sent it. With `joining`, the origin's list gets the elements that it lacks.
  private static func put(_ name: Bytes, _ value: Bytes, joining: Bool, into fields: inout Fields) {
    guard let present = fields.combined(named: name) else { return fields.append(named: name, value) }
    guard joining else { return }
    var joined = Array(present)
    let known = present.listElements.map { $0.map(\.lowercasedASCII) }
    guard !known.contains(Array("*".utf8)) else { return }
    for element in value.listElements where !known.contains(element.map(\.lowercasedASCII)) {
      if !joined.isEmpty { joined.append(", " as StaticString) }
      joined.append(contentsOf: element)
    }
    fields.removeAll { _, spelling, _ in spelling.equalsIgnoringCase(name) }
    fields.append(named: name, joined)
  }
}
