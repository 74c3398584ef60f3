import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlWire

/// Gives a relayed response to the client. A HEAD request gets the fields that a GET would get, and content that was fetched
/// uncompressed is compressed.
extension ForwardExchange {
  /// Gives the response to the client, and compresses its content where the origin was asked for uncompressed content.
  func give(_ head: ResponseHead, _ length: ContentLength, hasBody: Bool) {
    guard request.head.method.isRetrieval, request.route.cache != nil, request.asksIdentity, head.status != 206 else {
      return channel.respond(head, length: length, body: hasBody ? self : nil)
    }
    var head = head
    AnswerCoding.keepApart(&head, for: request)
    if let form = completeForm(of: head) {
      head.fields.becomeCoded(in: form.coding)
      AnswerTags.put(
        into: &head.fields, EntityTag(strong: form.response.body.primaryTag), of: form.response, request.route)
      return channel.respond(head, length: form.response.body.total.map(ContentLength.known) ?? .unknown, body: nil)
    }
    let coded = AnswerCoding.onItsWay(hasBody ? self : nil, length, under: &head, to: request)
    channel.respond(head, length: coded.length, body: coded.body)
  }

  /// The stored coded form that a GET would get instead of the uncompressed content; `nil`: none.
  private func completeForm(of head: ResponseHead) -> (coding: ContentCoding, response: StoredResponse)? {
    guard let agreed, head.status == 200,
      let coding = AnswerCoding.choose(
        for: request, head, length: agreed.body.total, isForEverybody: agreed.head.isForEverybody),
      let form = agreed.body.form(in: coding), form.isComplete
    else { return nil }
    return (coding, agreed.form(form, in: coding))
  }

  /// Adds to a HEAD response the fields that a response to GET would have: pawl's tag, or `Accept-Ranges` if pawl would store the
  /// response to GET (RFC 9110 §9.3.2).
  /// - Returns: `false` if the client's `If-Match` does not match.
  func promises(_ head: ResponseHead, _ reply: inout ResponseHead) -> Bool {
    let body = stored.flatMap { $0.head.isAgreed(by: head, total: $0.body.total) ? $0 : nil }
    agreed = body
    if body == nil, let stored, stored.head.isContradicted(by: head, total: stored.body.total) {
      request.loop.counters(of: request.route.upstream).addDefect(.headWrong)
    }
    if let tags = request.match, head.status < 300 || head.status == 304 {
      guard let body, tags.contains(where: { !$0.isWeak && body.isNamed(by: $0) }) else {
        return false
      }
    }
    if let body, head.status == 200 || head.status == 304 {
      AnswerTags.put(into: &reply.fields, EntityTag(strong: body.body.primaryTag), of: body, request.route)
      return true
    }
    promiseRanges(head, &reply)
    return true
  }

  private func promiseRanges(_ head: ResponseHead, _ reply: inout ResponseHead) {
    guard request.route.cache != nil, head.status == 200, !head.fields.isMultipartRanges else { return }
    var asGet = request.head
    asGet.method = .get
    let framing = head.fields.only(.contentLength)?.strictDecimal.map(BodyFraming.length) ?? .chunked
    let storability = Storability.decide(
      request: asGet, response: head, framing: framing, policy: request.route.policy,
      receivedAt: request.loop.loop.wallSeconds)
    if storability.isForOthers { reply.fields.set(.acceptRanges, "bytes") }
  }
}
