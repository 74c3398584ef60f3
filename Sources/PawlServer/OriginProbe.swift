import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUpstream

/// Asks an origin by OPTIONS whether it speaks an upload protocol itself: then it is left to it. The answers are
/// remembered in ``ProbeMemory``.
final class OriginProbe: OriginExchangeDelegate {
  /// The first request of an upload waits for the answer.
  static let patience = Duration.seconds(1)

  private let request: IncomingRequest
  private let key: ProbeMemory.Key
  private var origin: OriginExchange?
  private var timer: LoopTimer?
  private var waiting: [(ProbeMemory.Answer) -> Void] = []

  /// `then` is called once, on the request's loop; at once where the answer is known.
  static func speaks(_ protocol: UploadProtocol, _ request: IncomingRequest, then: @escaping (Bool) -> Void) {
    let loop = request.loop
    let key = ProbeMemory.Key(request)
    let tell = { (answer: ProbeMemory.Answer) in then(`protocol` == .tus ? answer.tus : answer.ietf) }
    if let known = loop.server.probes.withLock({ $0.answer(for: key, at: loop.loop.now) }) { return tell(known) }
    if let running = loop.probes[key] { return running.waiting.append(tell) }
    let probe = OriginProbe(request, key)
    probe.waiting.append(tell)
    loop.probes[key] = probe
    probe.start()
  }

  private init(_ request: IncomingRequest, _ key: ProbeMemory.Key) {
    (self.request, self.key) = (request, key)
  }

  // MARK: - Asking

  /// Neither a preflight nor a request about an upload: what the target says of itself.
  static func question(_ request: IncomingRequest) -> RequestHead {
    var head = OriginRequests.forwarded(request)
    (head.method, head.framing) = (.options, .none)
    for name in OriginRequests.conditions + [.expect, .contentType, .contentLength, .contentEncoding, .origin] {
      head.fields.removeAll(name)
    }
    OriginRequests.removeUploadFields(&head.fields)
    head.fields.removeAll { _, spelling, _ in
      spelling.prefix(8).equalsIgnoringCase("content-")
        || spelling.prefix(23).equalsIgnoringCase("access-control-request-")
    }
    return head
  }

  private func start() {
    let loop = request.loop
    guard !OriginRequests.isLoop(request.head.fields) else { return answer(nil) }
    let asked = OriginRequest(head: Self.question(request), use: .passThrough)
    origin = loop.pool(for: request.route.upstream).start(asked, delegate: self)
    let timer = loop.loop.makeTimer { [weak self] in self?.answer(nil) }
    timer.schedule(after: Self.patience)
    self.timer = timer
  }

  // MARK: - The answer

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    // What else it says is read and dropped, so that the connection can be used again.
    origin = nil
    answer(head)
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {}
  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {}

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    answer(nil)
  }

  private func answer(_ head: ResponseHead?) {
    guard !waiting.isEmpty else { return }
    timer?.close()
    origin?.cancel()
    origin = nil
    let loop = request.loop
    loop.probes[key] = nil
    let answer = head.map(ProbeMemory.Answer.init) ?? ProbeMemory.Answer()
    let now = loop.loop.now
    loop.server.probes.withLock { $0.remember(answer, for: key, isCertain: head != nil, at: now) }
    if answer.tus || answer.ietf {
      let spoken = [answer.tus ? "tus" : nil, answer.ietf ? "ietf" : nil].compactMap(\.self).joined(separator: ",")
      loop.events.log(
        .notice, "origin-speaks-uploads",
        [
          "route": request.route.name, "upstream": request.route.upstreamName, "path": key.path[...].text,
          "protocols": spoken,
        ])
    }
    let told = waiting
    waiting = []
    for tell in told { tell(answer) }
  }
}
