import PawlBase
import PawlCache
import PawlHTTP
import PawlLoop
import PawlStore
import PawlWire

/// A stored response as it goes out when nothing about the request is special: its head up to the fields that change
/// by the second, and what those are made of. Belongs to one route, whose policy it was made by.
final class HotAnswer: Sendable {
  /// Of a 200, with its length; without the last line's end.
  let head: [UInt8]
  /// Of a 206, without the fields that say which part it is and how long.
  let partHead: [UInt8]
  /// The tag that the answer shows, quotes and all, when it is strong and pawl's or the origin's own; else empty.
  let tag: [UInt8]
  /// Of the body, in octets.
  let total: UInt64
  /// Wall clock, seconds: from then on the response is stale.
  let freshUntil: Int64
  /// Wall clock, seconds: before then the clock was set back, and nobody knows how old it is.
  let freshFrom: Int64
  /// Wall clock, seconds: when the response was made, as its `Age` counts.
  let bornAt: Int64
  /// Whether requests with cookies may have it.
  let isForEverybody: Bool
  /// Whether the origin gave a `Date`; else each answer bears the time it leaves at.
  let hasDate: Bool
  /// Of a 200 over HTTP/2, once it is wanted.
  private let headOfHTTP2 = Locked<HTTP2FixedHead?>(nil)
  /// ``RouteSettings/serial``: after a reload another route may stand at the same address.
  private let route: Int

  private init(_ stored: StoredResponse, total: UInt64, _ route: RouteSettings, now: Int64) {
    let freshness = Freshness.evaluate(stored.head, policy: route.policy, now: now)
    (freshUntil, bornAt) = (now + freshness.ttl, now - freshness.age)
    freshFrom = stored.head.responseTime - Freshness.clockTolerance
    (self.total, self.route) = (total, route.serial)
    tag = StoredAnswer.showsTag(stored, route) ? EntityTag(strong: stored.body.primaryTag).bytes : []
    isForEverybody = stored.head.isForEverybody
    hasDate = stored.head.fields.contains(.date)
    head = Self.render(stored, route, status: 200, .length(total))
    partHead = Self.render(stored, route, status: 206, .none)
  }

  func isFresh(at now: Int64) -> Bool { freshFrom <= now && now < freshUntil }

  /// The answer of `stored` on `route`, made once for each; `nil` where it depends on more than its URL, or the body is not
  /// complete.
  static func of(_ stored: StoredResponse, _ route: RouteSettings, now: Int64) -> HotAnswer? {
    if let known = stored.rendered.withLock({ $0 }) as? HotAnswer, known.route == route.serial { return known }
    guard isRegular(stored.head, route), stored.body.isComplete, let total = stored.body.total else { return nil }
    let made = HotAnswer(stored, total: total, route, now: now)
    stored.rendered.withLock { $0 = made }
    return made
  }

  private static func isRegular(_ head: StoredHead, _ route: RouteSettings) -> Bool {
    head.givesParts && head.implicitKey.isEmpty && !head.cacheControl.noCache && !head.vary.isStar
      && (head.vary.names.isEmpty || (route.asksIdentity && head.isOfIdentityRequests))
  }

  /// Made when it is first wanted; of the same response and route.
  func headForHTTP2(_ stored: StoredResponse, _ route: RouteSettings) -> HTTP2FixedHead {
    headOfHTTP2.withLock { head in
      if let head { return head }
      let made = HTTP2FixedHead(status: 200, Self.fields(of: stored, route, status: 200), length: total)
      head = made
      return made
    }
  }

  private static func render(_ stored: StoredResponse, _ route: RouteSettings, status: Int, _ framing: BodyFraming)
    -> [UInt8]
  {
    var output: [UInt8] = []
    HeadWriter.write(
      ResponseHead(status: status, fields: fields(of: stored, route, status: status)), framing: framing,
      connection: .keepAlive, into: &output)
    output.removeLast(2)
    return output
  }

  /// Those that are the same in every answer.
  private static func fields(of stored: StoredResponse, _ route: RouteSettings, status: Int) -> Fields {
    var fields = stored.head.fields
    fields.removeAll(.age)
    // The same answer goes out in clear: this is put in where it goes out over TLS.
    if route.strictTransport != nil { StrictTransportField.remove(from: &fields) }
    if status == 206 { fields.removeMessageDigests() }
    if StoredAnswer.showsTag(stored, route) { fields.set(.etag, EntityTag(strong: stored.body.primaryTag).bytes) }
    fields.set(.acceptRanges, "bytes")
    Via.append(to: &fields, version: .http11)
    return fields
  }
}
