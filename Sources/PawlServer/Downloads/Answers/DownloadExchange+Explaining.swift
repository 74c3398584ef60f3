import PawlCache
import PawlCacheStore
import PawlHTTP

/// What `log-level = debug` says about hits, misses and shared fetches.
extension DownloadExchange {
  /// Notes the key, what is stored under it, and what is done therefore.
  func explain(_ decision: Decision, of resource: Resource) {
    guard request.loop.events.isEnabled(.debug) else { return }
    let key = resource.key
    request.explain("key", "\(key.authority.text) \(request.shown(key.target).text)")
    let (found, running) = resource.withLock { state in
      (state.isLoaded ? selected(in: &state) : nil, state.fetch as? CollapsedFetch)
    }
    request.explain("found", foundText(found, in: resource))
    if let running, !mayJoin(running) { request.explain("joined", whyNotJoined(running)) }
    request.explain("does", Self.text(decision))
  }

  private func foundText(_ stored: StoredResponse?, in resource: Resource) -> String {
    guard let stored else {
      let others = resource.withLock { $0.isLoaded ? Array($0.variants).count : 0 }
      return others == 0 ? "nothing" : "\(others) responses to other requests (Vary, cookies; RFC 9111 §4.1)"
    }
    let state = stored.body.isComplete ? "complete" : "a part"
    return "\(state), status \(stored.head.status), \(Self.text(reuse(of: stored)))"
  }

  private func reuse(of stored: StoredResponse) -> Reuse {
    Reuse.decide(
      stored.head, request: request.head, policy: request.route.policy, now: request.loop.loop.wallSeconds)
  }

  private static func text(_ reuse: Reuse) -> String {
    switch reuse {
    case .fresh(let freshness): "fresh for \(freshness.ttl) s more, \(freshness.age) s old (RFC 9111 §4.2)"
    case .staleAllowed(let freshness): "stale for \(freshness.staleness) s, which max-stale accepts (RFC 9111 §5.2.1.2)"
    case .staleWhileRevalidate(let freshness):
      "stale for \(freshness.staleness) s, used while it is revalidated (RFC 5861 §3)"
    case .validate: "to be validated: stale, or no-cache, max-age or min-fresh forbids it (RFC 9111 §4.3)"
    }
  }

  private static func text(_ decision: Decision) -> String {
    switch decision {
    case .serve: "serves the stored response"
    case .serveWhile: "serves the stored response and revalidates it in the background"
    case .waitForProof: "waits until the new body is compared with the one that If-Range names"
    case .prove: "asks the origin whether this client may have the body that If-Range names"
    case .join: "waits for the fetch of another request"
    case .lead(let fetch, _): "asks the origin (\(fetch.reason.rawValue))"
    case .forward(let reason): "passes the request on (\(reason.rawValue))"
    case .onlyIfCached: "504, because only-if-cached forbids to ask (RFC 9111 §5.2.1.7)"
    case .load: "reads the catalogue first"
    }
  }

  /// Why this request does not wait for a fetch that runs; the rules are those of ``mayJoin(_:)``.
  private func whyNotJoined(_ running: CollapsedFetch) -> String {
    let fields = request.head.fields
    let control = CacheControl(fields)
    if collapsing == .goesAlone { return "no: it has waited in vain before" }
    if Via.passages(in: fields) > 0 { return "no: it has passed pawl before (Via)" }
    if running.asker.sharesNothing { return "no: the running request has a credential or no-store" }
    if control.noCache || control.noStore || control.maxAge == 0 {
      return "no: its Cache-Control asks for a response of its own (RFC 9111 §5.2.1)"
    }
    if RequestFields.isPersonal(fields) { return "no: it has a credential or a cookie" }
    return "no: a field overrides its method, URL or host"
  }

  /// Why this request does not get the response that it waited for; the rules are those of ``mayTake(_:from:isEarly:)``.
  func whyNotShared(_ stored: StoredResponse, _ sharing: Sharing) -> String {
    guard matches(stored) else { return "no: Vary or the cookies select another response (RFC 9111 §4.1)" }
    if sharing.isPersonal { return "no: it sets a cookie" }
    return "no: \(Self.text(reuse(of: stored)))"
  }
}
