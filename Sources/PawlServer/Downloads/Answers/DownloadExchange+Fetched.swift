import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlUpstream
import PawlWire

/// What comes of the fetch that an exchange leads.
extension DownloadExchange: FetchLeader {
  func interim(_ head: ResponseHead) { if !isOver { channel.interim(head) } }

  func fetched(_ stored: StoredResponse, _ arrival: CollapsedFetch.Arrival, setCookies: [Bytes]) {
    ticket = nil
    guard !isOver else { return }
    let served = Served(arrival: arrival, isCollapsed: false, setCookies: setCookies)
    if resumption?.compares(stored, served) != true { serve(stored, served) }
  }

  func passOn(
    _ head: ResponseHead, _ framing: BodyFraming, body: StreamRelay?, why reason: CacheStatus.ForwardReason
  ) {
    let reply = passing(head, reason)
    guard !isOver else { return body?.finish() ?? () }
    channel.respond(reply, length: ContentLength(framing), body: body)
  }

  func passOn(_ head: ResponseHead, content: UnsafeRawBufferPointer, why reason: CacheStatus.ForwardReason) {
    let reply = passing(head, reason)
    if !isOver { channel.respond(reply, content: content) }
  }

  private func passing(_ head: ResponseHead, _ reason: CacheStatus.ForwardReason) -> ResponseHead {
    ticket = nil
    var reply = OriginRequests.relayed(head)
    var status = CacheStatus(fwd: reason)
    status.fwdStatus = head.status
    status.append(to: &reply.fields)
    request.record.cacheOutcome = "miss"
    return reply
  }

  func asksAsItStands(_ reason: CacheStatus.ForwardReason) { forwardInstead(reason) }

  func fetchFailed(_ failure: OriginFailure) {
    ticket = nil
    guard !isOver else { return }
    failed(failure.error)
  }

  func giveTicketBack() {
    ticket?.giveBack()
    ticket = nil
  }
}
