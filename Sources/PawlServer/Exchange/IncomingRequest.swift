import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve

/// A request, with all that routing and the listener have found out about the request.
final class IncomingRequest {
  /// The head as the client sent it, except for the changes in `IncomingRequest+Changes`.
  let head: RequestHead
  /// The route of the target; for an upload's URL the route on which the upload goes on, once that is known.
  var route: RouteSettings
  let loop: LoopServices
  let facts: ClientFacts
  let requestID: [UInt8]
  /// Whether a site has the request's host. If `false`, `route` only lends its settings.
  let isRouted: Bool
  /// Whether upload fields are removed: the origin gets an ordinary request.
  var hidesUploadFields = false
  /// Whether this is a delivery: the request that a completed upload becomes.
  var isDelivery = false
  /// Whether the target is an upload's URL.
  var isBelowPrefix = false
  var record: TransferRecord
  var tally = FetchTally()
  /// The kind of transfer as which the request counts until it is over; `nil`: it does not count.
  var activeKind: TransferKind?
  /// The resource under the request's cache key, if it was looked up already.
  var resource: Resource?

  var client: SocketAddress? { facts.client }
  var isTrustedPeer: Bool { facts.isTrusted }
  var port: UInt16 { facts.port }

  /// The head of the request to the origin, once that head is made.
  var sentHead: RequestHead?

  /// All cookies of the client, where ``head`` lacks some.
  let allCookies: [Bytes]?
  /// The tags of `If-Match`, if pawl evaluates that field: the response must have one of these tags. The origin does not get the
  /// condition.
  let match: [EntityTag]?
  var hasMatch: Bool { match != nil }

  /// With `origin-encoding = pass` the origin chooses the content coding: this is the coding in which the request's range
  /// counts bytes.
  var rangeCoding = RangeCoding.identity { didSet { sentHead = nil } }

  /// Whether this request goes to the origin with the client's own `Accept-Encoding`, to learn what the origin compresses
  /// (``AnswerCoding/isToLearn(_:)``).
  var asksOwnCoding = false { didSet { sentHead = nil } }

  /// Whether the request has content, or may have some.
  var hasContent: Bool { head.framing != .none && head.framing != .length(0) }

  /// Whether the request asks for the bytes after those that the client holds, identifies these by a date only, and accepts
  /// content codings. Then the client may hold a coded form (``AnswerCoding/mayBeHeldCoded(_:by:)``).
  var namesByDateAlone = false

  /// Whether the origin is asked for content without coding. This is so if the route has that setting; it is also so for a
  /// range, unless the range counts the bytes of a coded body.
  var asksIdentity: Bool {
    route.asksIdentity && !asksOwnCoding
      || rangeCoding == .identity && head.method == .get && head.fields.contains(.range)
  }

  init(
    head: consuming RequestHead, route: RouteSettings, loop: LoopServices, facts: ClientFacts, requestID: [UInt8],
    isRouted: Bool, record: TransferRecord, allCookies: [Bytes]? = nil, match: [EntityTag]? = nil
  ) {
    self.head = head
    (self.allCookies, self.match) = (allCookies, match)
    (self.route, self.loop, self.facts) = (route, loop, facts)
    (self.requestID, self.isRouted, self.record) = (requestID, isRouted, record)
  }

  deinit { if let activeKind { loop.counters.add(activeKind.ended) } }

  /// Returns the same request without a client, for work in the background, which appears in no client's log line.
  func inBackground() -> IncomingRequest {
    let copy = IncomingRequest(
      head: head, route: route, loop: loop, facts: facts, requestID: requestID, isRouted: isRouted,
      record: TransferRecord(began: loop.loop.now))
    copy.rangeCoding = rangeCoding
    return copy
  }
}
