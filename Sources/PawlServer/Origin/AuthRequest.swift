import PawlDisk
import PawlHTTP
import PawlLoop
import PawlUpstream

/// The application's decision about an upload (`auth-request`).
enum AuthVerdict: Sendable {
  /// 2xx, with the fields of the response.
  case allowed(Fields)
  /// 4xx: the client gets this response. If the body is too long, the client gets only its beginning.
  case refused(ResponseHead, body: [UInt8], isWhole: Bool)
  /// Any other status, or no response: the client gets 503.
  case unavailable
}

/// One request to `auth-request`: `GET PATH` on the upstream, with the fields of the client's request.
final class AuthRequest: OriginExchangeDelegate {
  /// The longest body of a refusal that is kept, in bytes; a longer body is cut.
  static let bodyLimit = 64 << 10
  /// How long pawl waits for the response; the client waits meanwhile.
  static let patience = Duration.seconds(30)

  private let request: IncomingRequest
  private var then: ((AuthVerdict) -> Void)?
  private var origin: OriginExchange?
  private var timer: LoopTimer?
  private var refusal: ResponseHead?
  private var body: [UInt8] = []
  private var isBodyWhole = true

  /// Asks the application whether it accepts the upload. `then` is called one time, on the request's loop. If the route has no
  /// `auth-request`, `then` is called within this call, with `allowed` and no fields.
  /// - Parameter original: the method and target that the application gets in `X-Original-…`; `nil`: the request's own.
  /// - Returns: `nil` when `then` has been called.
  @discardableResult
  static func ask(
    _ request: IncomingRequest, original: (method: Method, target: Bytes)? = nil,
    then: @escaping (AuthVerdict) -> Void
  ) -> AuthRequest? {
    guard let path = request.route.authRequest else {
      then(.allowed(Fields()))
      return nil
    }
    let asked = AuthRequest(request, then)
    asked.start(question(request, path: path, original: original ?? (request.head.method, request.head.target)))
    return asked
  }

  private init(_ request: IncomingRequest, _ then: @escaping (AuthVerdict) -> Void) {
    (self.request, self.then) = (request, then)
  }

  /// Ends the request without calling `then`.
  func cancel() {
    then = nil
    letGo()
  }

  // MARK: - Asking

  private static let left: [FieldName] = [
    .expect, .contentLength, .contentRange, .contentEncoding, .contentMD5, .contentDigest, .reprDigest, .digest,
  ]

  static func question(
    _ request: IncomingRequest, path: [UInt8], original: (method: Method, target: Bytes)
  ) -> RequestHead {
    var head = OriginRequests.forwarded(request)
    (head.method, head.target, head.framing) = (.get, path[...], .none)
    for name in OriginRequests.conditions + left { head.fields.removeAll(name) }
    OriginRequests.removeUploadFields(&head.fields)
    head.fields.removeAll { _, spelling, _ in
      spelling.equalsIgnoringCase("x-original-method") || spelling.equalsIgnoringCase("x-original-uri")
    }
    head.fields.append(named: Bytes("X-Original-Method"), original.method.bytes)
    head.fields.append(named: Bytes("X-Original-URI"), original.target)
    return head
  }

  private func start(_ head: RequestHead) {
    let loop = request.loop
    var asked = OriginRequest(head: head, use: .passThrough)
    asked.holder = PlaceMarks.holder(of: head, for: request)
    origin = loop.pool(for: request.route.upstream).start(asked, delegate: self)
    let timer = loop.loop.makeTimer { [weak self] in self?.failed("no answer within \(Self.patience)") }
    timer.schedule(after: Self.patience)
    self.timer = timer
  }

  // MARK: - The answer

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    switch head.status {
    case 200..<300: answer(.allowed(head.fields), keeping: exchange)
    case 400..<500: refusal = OriginRequests.relayed(head)
    default: failed("status \(head.status)", keeping: exchange)
    }
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    let isUsed = refusal != nil && isBodyWhole
    request.loop.counters.add(isUsed ? .fromOriginNew : .fromOriginWasted, UInt64(bytes.count))
    guard isUsed else { return }
    isBodyWhole = body.count + bytes.count <= Self.bodyLimit
    body.append(contentsOf: bytes.prefix(Self.bodyLimit - body.count))
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    origin = nil
    if let refusal { answer(.refused(refusal, body: body, isWhole: isBodyWhole)) }
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    origin = nil
    exchange.remedy = .answers(503)
    failed(String(decoding: failure.error.fieldValue, as: UTF8.self))
  }

  /// Ends without a decision, because the response is neither 2xx nor 4xx, or did not come.
  private func failed(_ why: String, keeping exchange: OriginExchange? = nil) {
    request.loop.shared.failures.log(
      .warning, "auth-request-failed", of: "\(request.route.upstreamName) auth-request \(why)",
      ["upstream": request.route.upstreamName, "why": why, "request": request.idText])
    answer(.unavailable, keeping: exchange)
  }

  /// Calls `then`.
  /// - Parameter exchange: the exchange that is not cancelled. It reads the rest of its response by itself, so that its
  ///   connection can be used again.
  private func answer(_ verdict: AuthVerdict, keeping exchange: OriginExchange? = nil) {
    if exchange != nil { origin = nil }
    letGo()
    guard let then else { return }
    self.then = nil
    then(verdict)
  }

  private func letGo() {
    timer?.close()
    timer = nil
    origin?.cancel()
    origin = nil
  }
}
