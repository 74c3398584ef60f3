import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// A request together with all that routing and the listener know about it.
final class IncomingRequest {
  /// As the client sent it, but for what ``IncomingRequest+Changes`` takes out of it.
  let head: RequestHead
  /// Of the target; for an upload's URL that of the upload's creation, once it is known.
  var route: RouteSettings
  let loop: LoopServices
  let facts: ClientFacts
  let requestID: [UInt8]
  /// `false`: no site takes it, and `route` only lends its settings.
  let isRouted: Bool
  /// Upload fields stay here: the origin gets an ordinary request.
  var hidesUploadFields = false
  /// pawl makes it itself: a completed upload on its way to the origin.
  var isDelivery = false
  /// The target is an upload's URL.
  var isBelowPrefix = false
  var record: TransferRecord
  var tally = FetchTally()
  /// What is known under its key, where that was looked up already.
  var resource: Resource?

  var client: SocketAddress? { facts.client }
  var isTrustedPeer: Bool { facts.isTrusted }
  var port: UInt16 { facts.port }

  /// As the origin is asked for the stored representation, once that is made up.
  var sentHead: RequestHead?

  /// All its cookies, where ``head`` is without some.
  let allCookies: [Bytes]?
  /// What the answer has to be named by, where that is the condition of the request (`If-Match`) and pawl judges it: the origin hears
  /// nothing of it.
  let match: [EntityTag]?
  var hasMatch: Bool { match != nil }

  /// Of which coding its range is, where the route leaves that open.
  var rangeCoding = RangeCoding.identity { didSet { sentHead = nil } }

  /// The origin is asked with the client's own `Accept-Encoding` this once (``AnswerCoding/isToLearn(_:)``).
  var asksOwnCoding = false { didSet { sentHead = nil } }

  /// It asks for a part behind what its client holds, names that by a date alone, and takes content codings: then it may be a coded form
  /// that it holds (``AnswerCoding/mayBeHeldCoded(_:by:)``).
  var namesByDateAlone = false

  /// Whether the origin is asked for no coding: by the route, and where bytes are counted, unless they are counted in
  /// those of a coded body.
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

  /// The same request, made by nobody: what it costs is in no client's record.
  func inBackground() -> IncomingRequest {
    let copy = IncomingRequest(
      head: head, route: route, loop: loop, facts: facts, requestID: requestID, isRouted: isRouted,
      record: TransferRecord(began: loop.loop.now))
    copy.rangeCoding = rangeCoding
    return copy
  }
}
