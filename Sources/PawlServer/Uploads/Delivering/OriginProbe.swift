import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUpstream

/// Asks an origin with OPTIONS whether it speaks an upload protocol itself. If it does, pawl passes requests in that protocol on.
/// The responses, even late ones, are remembered in ``ProbeMemory``.
///
/// If an origin is connected but silent, requests that follow the drafts are passed on, because an origin that does not know the
/// drafts handles them as ordinary requests. Requests in tus wait up to ``tusPatience``. If the origin is still silent then, the
/// result is "not known".
final class OriginProbe: OriginExchangeDelegate {
  /// How long a request waits for the response to the probe if an earlier response is known, or if the request follows a draft.
  static let patience = Duration.seconds(1)
  /// How long a request in tus waits if no earlier response is known.
  static let tusPatience = Duration.seconds(10)
  /// How long the probe waits for the response.
  static let lifetime = Duration.seconds(60)
  /// The largest number of late probes of one loop to one upstream, since each holds a connection. If there are more than this,
  /// the oldest one ends.
  static let lateLimit = 4

  private struct Waiting {
    let speech: UploadProtocol
    let since: Monotonic
    let then: (Bool?) -> Void

    func tell(_ answer: ProbeMemory.Answer) { then(speech == .tus ? answer.tus : answer.ietf) }
  }

  private let request: IncomingRequest
  private let key: ProbeMemory.Key
  private unowned let uploads: LoopUploads
  private let began: Monotonic
  private var origin: OriginExchange?
  private var timer: LoopTimer?
  private var waiting: [Waiting] = []
  /// Whether the origin is connected, and gets the probe's request.
  private(set) var isWithOrigin = false
  private(set) var isLate = false
  private var isOver = false

  /// Finds out whether the origin of a request speaks an upload protocol. `then` is called one time, on the request's loop;
  /// within this call if the result is known already. `true`: pass the request on; `false`: pawl handles the request; `nil`: not
  /// known.
  static func speaks(
    _ protocol: UploadProtocol, _ request: IncomingRequest, on uploads: LoopUploads, then: @escaping (Bool?) -> Void
  ) {
    let loop = request.loop
    let key = ProbeMemory.Key(request)
    let waiting = Waiting(speech: `protocol`, since: loop.loop.now, then: then)
    let known = loop.shared.probes.withLock { $0.answer(for: key, at: loop.loop.now) }
    if let known { return waiting.tell(known) }
    if let running = uploads.probes[key] { return running.join(waiting) }
    let probe = OriginProbe(request, key, uploads)
    probe.waiting.append(waiting)
    uploads.probes[key] = probe
    probe.start()
  }

  private init(_ request: IncomingRequest, _ key: ProbeMemory.Key, _ uploads: LoopUploads) {
    (self.request, self.key, self.uploads, began) = (request, key, uploads, uploads.loop.now)
  }

  // MARK: - Asking

  /// Makes the OPTIONS request: neither a preflight nor a request about an upload, but a question about the target itself.
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
    guard !OriginRequests.isLoop(request.head.fields) else { return failed() }
    let asked = OriginRequest(head: Self.question(request), use: .passThrough)
    origin = loop.pool(for: request.route.upstream).start(asked, delegate: self)
    let timer = loop.loop.makeTimer { [weak self] in self?.timePassed() }
    timer.schedule(after: Self.patience)
    self.timer = timer
  }

  // MARK: - Waiting

  private func join(_ newcomer: Waiting) {
    waiting.append(newcomer)
    guard isLate else { return }
    // The timer calls `then`, because `then` must not be called within this function.
    timer?.schedule(after: .zero)
  }

  private func timePassed() {
    guard !isOver else { return }
    let now = request.loop.loop.now
    guard now - began < Self.lifetime else { return end() }
    if !isLate {
      isLate = true
      makeRoom()
    }
    conclude(now)
    guard !isOver else { return }
    let next = waiting.map { $0.since.advanced(by: Self.tusPatience) }.min() ?? began.advanced(by: Self.lifetime)
    timer?.schedule(after: max(.zero, min(next, began.advanced(by: Self.lifetime)) - now))
  }

  /// Calls `then` for the requests whose time to wait is over.
  private func conclude(_ now: Monotonic) {
    let said = request.loop.shared.probes.withLock { [key] in $0.lastSaid(for: key) }
    let told = waiting
    waiting = []
    for entry in told {
      if let said {
        entry.tell(said)
      } else if entry.speech != .tus {
        // Pass the request on only if the origin can be reached.
        entry.then(isWithOrigin)
      } else if now - entry.since >= Self.tusPatience {
        entry.then(nil)
      } else {
        waiting.append(entry)
      }
    }
  }

  private func makeRoom() {
    let late = uploads.probes.values.filter { $0.isLate && $0.key.upstream == key.upstream }
    guard late.count > Self.lateLimit else { return }
    late.min { $0.began < $1.began }?.end()
  }

  // MARK: - The answer

  func exchangeConnected(_ exchange: OriginExchange) { isWithOrigin = true }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    // The exchange reads and drops the content by itself, so that the connection can be used again.
    origin = nil
    let isCertain = ProbeMemory.Answer.isCertain(status: head.status)
    answer(ProbeMemory.Answer(head), isCertain: isCertain)
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    request.loop.counters.add(.fromOriginWasted, UInt64(bytes.count))
  }
  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {}

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    exchange.remedy = .other("pawl takes the upload itself")
    failed()
  }

  private func failed() { answer(ProbeMemory.Answer(), isCertain: false) }

  private func answer(_ said: ProbeMemory.Answer, isCertain: Bool) {
    guard !isOver else { return }
    let loop = request.loop
    let now = loop.loop.now
    let answer = loop.shared.probes.withLock { [key] memory in
      memory.remember(said, for: key, isCertain: isCertain, at: now)
      return memory.answer(for: key, at: now) ?? said
    }
    if said.tus || said.ietf { OriginProtocolLearning.log(said, request, key) }
    let told = close()
    for entry in told { entry.tell(answer) }
  }

  /// Ends the probe without a result, and calls `then` for the requests that still wait.
  private func end() {
    origin?.cancel()
    for entry in close() { entry.then(entry.speech == .tus ? nil : isWithOrigin) }
  }

  private func close() -> [Waiting] {
    isOver = true
    timer?.close()
    origin = nil
    if uploads.probes[key] === self { uploads.probes[key] = nil }
    defer { waiting = [] }
    return waiting
  }
}
