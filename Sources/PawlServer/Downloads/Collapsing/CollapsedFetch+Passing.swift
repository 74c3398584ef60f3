import PawlCache
import PawlDisk
import PawlHTTP
import PawlUpstream
import PawlWire

/// Passes on a response that is not stored, to the leader only.
extension CollapsedFetch {
  /// Passes the response to the leader only; the waiting requests ask the origin themselves.
  /// - Parameter isForAll: whether the reason why the response is not stored applies to other requests, too. Then requests for this
  ///   resource do not wait for each other for a while (hit-for-miss).
  func passOn(_ head: ResponseHead, _ framing: BodyFraming, isForAll: Bool) {
    if isForAll { mark() }
    if leader != nil, isProvenUncoded(head) {
      request.rangeCoding = .identity
      return askAsItStands()
    }
    relay(head, framing)
  }

  func relay(_ head: ResponseHead, _ framing: BodyFraming) {
    let fetch = fetch
    guard let leader = conclude(.notShared), let fetch else {
      fetch?.cancel()
      return
    }
    if let content = fetch.takeContent() { return leader.passOn(head, content: content, why: reason) }
    let resumability: Resumability = head.status == 200 && !fetch.isLive ? .whole : .never
    let hasBody = framing != .none && framing != .length(0)
    let relay = hasBody ? StreamRelay(fetch, canResume: resumability != .never) : nil
    leader.passOn(head, framing, body: relay, why: reason)
    guard relay != nil else { return fetch.dismiss() }
    fetch.acceptUnstored(head, framing, resumability, receivedAt: downloads.loop.wallSeconds)
  }

  /// Passes on the part that the client asked for. The origin was asked for a wider range, with aligned borders.
  func passOnPart(_ head: ResponseHead, _ part: ByteRange, _ total: UInt64) {
    guard leader != nil, ColdRange.ifRangeHolds(request.head.fields, for: head, now: downloads.loop.wallSeconds),
      let wanted = ColdRange.cut(
        part, total: total, for: request.head.fields, maxRanges: request.route.maxRanges)
    else { return askAsItStands() }
    var trimmed = head
    trimmed.fields.set(.contentRange, ContentRange.format(wanted, total: total))
    if wanted != part { trimmed.fields.removeMessageDigests() }
    let fetch = fetch
    guard let leader = conclude(.notShared), let fetch else {
      fetch?.cancel()
      return
    }
    var identity = RepresentationIdentity(
      head: head, framing: .length(part.count), receivedAt: downloads.loop.wallSeconds)
    identity.total = total
    let isSuffix = RangeField(request.head.fields)?.specs.contains(where: \.isSuffix) ?? true
    let relay = StreamRelay(fetch, skipping: wanted.first - part.first, canResume: !isSuffix)
    leader.passOn(trimmed, .length(wanted.count), body: relay, why: reason)
    fetch.accept(FirstResponse(identity), from: part.first, through: wanted.last + 1)
  }

  /// Forwards the leader's request as it is. The origin was asked for more, or for less, than the client asked for, and nothing of its
  /// response can be stored.
  func askAsItStands() {
    fetch?.cancel()
    conclude(.notShared)?.asksAsItStands(reason)
  }

  /// Logs that a setting is missing without which the responses of a route cannot be resumed; once an hour for each route and reason.
  func advise(_ storability: Storability, _ head: ResponseHead, _ framing: BodyFraming) {
    guard
      let advice = ResumeAdvice(
        head, framing: framing, to: sent, storability: storability, policy: request.route.policy)
    else { return }
    downloads.services.shared.advice.log(
      .notice, "not-resumable", of: "\(request.route.name) \(advice.why)",
      [
        "route": request.route.name, "path": request.head.target.prefix { $0 != 0x3f }.text, "why": advice.why,
        "write": advice.lines.joined(separator: "; "),
      ])
  }

  private func isProvenUncoded(_ head: ResponseHead) -> Bool {
    request.rangeCoding == .ownUnlessCoded
      && ColdRange.isProvenUncoded(request.head.fields, for: head, now: downloads.loop.wallSeconds)
  }
}
