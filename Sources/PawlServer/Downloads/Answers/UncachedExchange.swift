import PawlCache
import PawlHTTP
import PawlUpstream
import PawlWire

/// A GET on a route without a cache. Nothing is stored. If the origin breaks off, the transfer is still resumed if the response allows
/// that.
final class UncachedExchange: Exchange, FetchHeadSink {
  private let request: IncomingRequest
  private let channel: any ResponseChannel
  private var fetch: OriginFetch?

  init(_ request: IncomingRequest, channel: any ResponseChannel) { (self.request, self.channel) = (request, channel) }

  func start() {
    guard !OriginRequests.isLoop(request.head.fields) else { return fail(ProxyError(.proxyLoopDetected)) }
    request.record.cacheOutcome = .bypass
    var head = OriginRequests.forwarded(request)
    head.fields.removeAll(.expect)
    let fetch = OriginFetch(for: request, base: head, use: .passThrough, for: .head(self))
    self.fetch = fetch
    fetch.start(adding: [])
  }

  func fetch(_ fetch: OriginFetch, interim head: ResponseHead) { channel.interim(head) }

  func fetch(_ fetch: OriginFetch, head: ResponseHead, framing: BodyFraming) {
    if let error = ProxyError.unasked(head.status, to: .get, asks: request.head.fields.contains) {
      fetch.cancel()
      return fail(error)
    }
    var reply = OriginRequests.relayed(head)
    var status = CacheStatus(fwd: .bypass)
    status.fwdStatus = head.status
    status.append(to: &reply.fields)
    if let content = fetch.takeContent() { return channel.respond(consume reply, content: content) }
    let hasBody = framing != .none && framing != .length(0)
    let resumability = Resumability.decide(head, framing: framing, asked: request.head.fields, isLive: fetch.isLive)
    let relay = hasBody ? StreamRelay(fetch, canResume: resumability != .never) : nil
    channel.respond(consume reply, length: ContentLength(framing), body: relay)
    guard hasBody else { return fetch.dismiss() }
    fetch.acceptUnstored(head, framing, resumability, receivedAt: request.loop.loop.wallSeconds)
  }

  func fetch(_ fetch: OriginFetch, gotNoAnswer failure: OriginFailure) { fail(failure.error) }

  private func fail(_ error: ProxyError) {
    channel.fail(request, error)
  }

  func clientLeft() { fetch?.cancel() }
  func responseSent() {}
}
