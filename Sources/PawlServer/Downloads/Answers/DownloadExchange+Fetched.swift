import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream
import PawlWire

/// Receives the outcome of the fetch that an exchange leads.
extension DownloadExchange: FetchLeader {
  func interim(_ head: ResponseHead) { if !state.isOver { channel.interim(head) } }

  func fetched(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival, setCookies: [Bytes]) {
    guard hasOutcome() else { return }
    let served = Served(arrival: arrival, isCollapsed: false, setCookies: setCookies)
    remember(stored, arrival)
    guard let resumption, resumption.compares(stored, served) else { return serve(stored, served) }
    enter(.resuming)
  }

  func passOn(
    _ head: ResponseHead, _ framing: BodyFraming, body: StreamRelay?, why reason: CacheStatus.ForwardReason
  ) {
    guard hasOutcome() else { return body?.finish() ?? () }
    guard isWanted(head) else {
      body?.finish()
      return preconditionFailed()
    }
    var reply = passing(head, reason)
    let coded = AnswerCoding.onItsWay(body, ContentLength(framing), under: &reply, to: request)
    channel.respond(consume reply, length: coded.length, body: coded.body)
  }

  func passOn(_ head: ResponseHead, content: UnsafeRawBufferPointer, why reason: CacheStatus.ForwardReason) {
    guard hasOutcome() else { return }
    guard isWanted(head) else { return preconditionFailed() }
    var reply = passing(head, reason)
    let coded = AnswerCoding.whole(content, under: &reply, to: request)
    guard let coded else { return channel.respond(consume reply, content: content) }
    let answered = reply
    coded.withUnsafeBytes { channel.respond(answered, content: $0) }
  }

  /// Whether the response fulfils `If-Match`. A successful response has to carry a tag that `If-Match` names. Any other response is passed
  /// on, because it would be the same without the condition (RFC 9110 §13.2.1).
  private func isWanted(_ head: ResponseHead) -> Bool {
    guard request.hasMatch, let tags = request.match, (200..<300).contains(head.status) else { return true }
    guard let own = head.fields.only(.etag).flatMap(EntityTag.init) else { return false }
    return tags.contains(where: own.matchesStrongly)
  }

  private func passing(_ head: ResponseHead, _ reason: CacheStatus.ForwardReason) -> ResponseHead {
    var reply = OriginRequests.relayed(head)
    AnswerCoding.keepApart(&reply, for: request)
    var status = CacheStatus(fwd: reason)
    status.fwdStatus = head.status
    status.append(to: &reply.fields)
    request.record.cacheOutcome = .miss
    return reply
  }

  func asksAsItStands(_ reason: CacheStatus.ForwardReason) { forwardInstead(reason) }

  func fetchFailed(_ failure: OriginFailure) {
    if hasOutcome() { failed(failure.error) }
  }

  /// Notes that the fetch has an outcome.
  /// - Returns: whether the exchange still waits for it.
  private func hasOutcome() -> Bool {
    guard state.hears(.outcome) else { return false }
    enter(.deciding)
    return true
  }
}
