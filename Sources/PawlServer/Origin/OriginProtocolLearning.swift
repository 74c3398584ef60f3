import PawlHTTP
import PawlLoop
import PawlUpload

/// Learns which upload protocols an origin speaks from responses to requests other than those of ``OriginProbe``.
enum OriginProtocolLearning {
  private static let conditions = FieldNameSet(OriginRequests.conditions)

  /// Whether the response to a delivery says that the origin requires tus: by its tus fields, or by a 412 to a request without a
  /// condition (tus 1.0.0, Tus-Resumable).
  static func wantsTus(_ answer: ResponseHead, to request: RequestHead) -> Bool {
    switch answer.status {
    case 400, 405, 415: return isTus(answer.fields)
    case 412:
      let isConditional =
        request.fields.mayContain(anyOf: conditions) || request.fields.combined(named: Bytes("If")) != nil
      return isTus(answer.fields) || !isConditional
    default: return false
    }
  }

  private static func isTus(_ fields: Fields) -> Bool {
    fields.only(.tusResumable)?.trimmed.equals("1.0.0") ?? false
      || fields.combined(named: Bytes("Tus-Version"))?.listElements.contains { $0.equals("1.0.0") } ?? false
  }

  /// Learns from the response to a delivery.
  /// - Returns: whether the origin requires tus.
  static func learn(delivery request: IncomingRequest, _ answer: ResponseHead) -> Bool {
    let wantsTus = wantsTus(answer, to: request.head)
    if wantsTus || isTus(answer.fields) {
      learn(request, ProbeMemory.Key(request), isSaid: isTus(answer.fields))
    }
    return wantsTus
  }

  /// Learns from the response to a request in tus that was passed on.
  static func learn(passed request: IncomingRequest, _ answer: ResponseHead) {
    guard isTus(answer.fields) else {
      guard request.head.method == .post, answer.status < 500 else { return }
      return request.loop.shared.probes.withLock { $0.doubt(ProbeMemory.Key(request)) }
    }
    guard answer.status != 404 else { return }
    for key in ProbeMemory.Key.creations(of: request) { learn(request, key, isSaid: true) }
  }

  /// Learns from the response to a client's OPTIONS.
  static func learn(options request: IncomingRequest, _ answer: ResponseHead) {
    let said = ProbeMemory.Answer(answer)
    guard said.tus || said.ietf else { return }
    let key = ProbeMemory.Key(request, as: .post)
    let now = request.loop.loop.now
    let isNews = request.loop.shared.probes.withLock { memory in
      guard memory.answer(for: key, at: now) != said else { return false }
      memory.remember(said, for: key, isCertain: true, at: now)
      return true
    }
    if isNews { log(said, request, key) }
  }

  private static func learn(_ request: IncomingRequest, _ key: ProbeMemory.Key, isSaid: Bool) {
    let now = request.loop.loop.now
    let isNews = request.loop.shared.probes.withLock { $0.teach(tus: key, isSaid: isSaid, at: now) }
    guard isNews else { return }
    var answer = ProbeMemory.Answer()
    answer.tus = true
    log(answer, request, key)
  }

  static func log(_ answer: ProbeMemory.Answer, _ request: IncomingRequest, _ key: ProbeMemory.Key) {
    let spoken = [answer.tus ? "tus" : nil, answer.ietf ? "ietf" : nil].compactMap(\.self).joined(separator: ",")
    request.loop.events.log(
      .notice, "origin-speaks-uploads",
      [
        "route": request.route.name, "upstream": request.route.upstreamName, "path": key.path[...].text,
        "protocols": spoken,
      ])
  }
}

extension ProbeMemory.Key {
  /// Makes the key of a request's target in ``ProbeMemory``.
  /// - Parameter method: the method that creates an upload there; `nil`: the method of this request.
  init(_ request: IncomingRequest, as method: Method? = nil) {
    self.init(
      upstream: request.route.upstream.id, route: request.route.name, method: method ?? request.head.method,
      target: request.head.target.isEmpty ? [0x2f] : request.head.target)
  }

  /// Returns the keys of the URL at which an upload was probably created, from a request to the upload: the directory of the
  /// upload's URL, with and without the slash at its end.
  static func creations(of request: IncomingRequest) -> [Self] {
    guard request.head.method != .post else { return [Self(request)] }
    let path = request.head.target.prefix { $0 != 0x3f }
    let directory = path[...(path.lastIndex(of: 0x2f) ?? path.endIndex - 1)]
    let (upstream, name) = (request.route.upstream.id, request.route.name)
    return [directory, directory.count > 1 ? directory.dropLast() : directory].map {
      Self(upstream: upstream, route: name, method: .post, target: $0)
    }
  }
}
