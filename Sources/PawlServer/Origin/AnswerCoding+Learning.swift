import PawlCache
import PawlHTTP
import PawlLoop
import PawlWire
import Synchronization

/// Learns which responses an origin compresses itself. For this, a few requests keep the client's own `Accept-Encoding`.
extension AnswerCoding {
  private static func kind(of request: IncomingRequest, isPersonal: Bool) -> OriginCodings.Kind {
    OriginCodings.Kind(route: request.route.serial, target: request.head.target, isPersonal: isPersonal)
  }

  /// Whether anything can be learnt from a request. Its `Accept-Encoding` has to accept gzip, which every origin that compresses
  /// supports.
  private static func canFindOut(_ request: IncomingRequest) -> Bool {
    request.head.fields.contains(.acceptEncoding) && request.head.method == .get && request.route.asksIdentity
      && !request.head.fields.contains(.range) && accepted(by: request) != nil
      && AcceptEncoding(request.head.fields).accepts(.gzip)
  }

  /// Whether this request is sent with the client's own `Accept-Encoding`, to learn what the origin compresses.
  ///
  /// There are three cases. Of the requests with cookies or credentials, these are all requests for a page until the result is
  /// known, and the first request of any other kind. Of the requests without them, it is one request after a response of a media
  /// type that the route does not compress.
  static func isToLearn(_ request: IncomingRequest) -> Bool {
    guard canFindOut(request), let compression = request.route.compression else { return false }
    let isPersonal = isSecret(request, compression)
    let kind = kind(of: request, isPersonal: isPersonal)
    return request.loop.shared.originCodings.withLock {
      kind.isPage
        ? !$0.isSettled(kind, at: request.loop.loop.now)
        : $0.takesQuestion(kind, isDue: isPersonal, at: request.loop.loop.now)
    }
  }

  /// Learns from a response to a request that had the client's own `Accept-Encoding` (``isToLearn(_:)``), or asked for
  /// `identity`.
  static func learn(_ head: ResponseHead, _ framing: BodyFraming, to request: IncomingRequest) {
    guard request.head.fields.contains(.acceptEncoding), let compression = request.route.compression else { return }
    let now = request.loop.loop.now
    let isPersonal = isSecret(request, compression)
    let kind = kind(of: request, isPersonal: isPersonal)
    let codings = request.loop.shared.originCodings
    let said = said(by: head, framing, compression)
    guard let said, let type = head.fields.mediaType else {
      if request.asksOwnCoding { codings.withLock { $0.reopens(kind) } }
      return
    }
    let subject = OriginCodings.Subject(
      route: request.route.serial, type: type, target: request.head.target[...], isPersonal: isPersonal)
    let isListed = compression.rules.lists(type)
    switch (request.asksOwnCoding, said) {
    case (true, .isCoded):
      if !isListed { compression.hasLearnt.store(true, ordering: .relaxed) }
      codings.withLock { table in
        table.note(true, of: subject, at: now)
        table.learned(kind, at: now)
      }
    case (true, .isPlain(hasLength: true)):
      codings.withLock { table in
        table.note(false, of: subject, at: now)
        table.learned(kind, at: now)
      }
    case (true, .isPlain(hasLength: false)): codings.withLock { $0.reopens(kind) }
    case (false, .isPlain) where isPersonal || !isListed:
      guard accepted(by: request) != nil else { return }
      codings.withLock { if $0.compresses(subject, at: now) == nil { $0.wants(kind, at: now) } }
    case (false, _): break
    }
  }

  /// Whether to ask the origin in addition to serving a stored response. `true` if the response is uncompressed only because it
  /// is not known whether the origin compresses it, and if the last such request was long enough ago.
  static func isToAskBeside(_ head: ResponseHead, length: UInt64?, for request: IncomingRequest) -> Bool {
    guard canFindOut(request), head.status == 200, let compression = request.route.compression,
      let type = head.fields.mediaType, compression.ofAnyType.apply(to: head, length: length)
    else { return false }
    let isPersonal = isSecret(request, compression)
    guard isPersonal || !compression.rules.lists(type) else { return false }
    let subject = OriginCodings.Subject(
      route: request.route.serial, type: type, target: request.head.target[...], isPersonal: isPersonal)
    let (kind, now) = (kind(of: request, isPersonal: isPersonal), request.loop.loop.now)
    return request.loop.shared.originCodings.withLock { table in
      guard table.compresses(subject, at: now) == nil else { return false }
      table.wants(kind, at: now)
      return table.takesQuestion(kind, isDue: true, at: now)
    }
  }

  /// Records that a request that was sent to learn got no response, so that the next request of its kind is sent to learn.
  static func gotNoAnswer(_ request: IncomingRequest) {
    guard request.asksOwnCoding, let compression = request.route.compression else { return }
    let kind = kind(of: request, isPersonal: isSecret(request, compression))
    request.loop.shared.originCodings.withLock { $0.reopens(kind) }
  }

  /// Records that the origin was asked in addition to serving a stored response. Whatever the result was, the origin is not asked
  /// again at once.
  static func askedBeside(_ request: IncomingRequest) {
    guard let compression = request.route.compression else { return }
    let (kind, now) = (kind(of: request, isPersonal: isSecret(request, compression)), request.loop.loop.now)
    request.loop.shared.originCodings.withLock { $0.postpones(kind, at: now) }
  }

  private enum Said {
    case isCoded
    case isPlain(hasLength: Bool)
  }

  /// Returns what a response shows about compression. `nil`: nothing, because the status is not 200, or because no origin
  /// compresses content that is small or must not be transformed.
  private static func said(by head: ResponseHead, _ framing: BodyFraming, _ compression: RouteCompression) -> Said? {
    guard head.status == 200 else { return nil }
    if RepresentationIdentity.codings(head.fields) != nil { return .isCoded }
    var length: UInt64?
    if case .length(let count) = framing { length = count }
    return compression.ofAnyType.apply(to: head, length: length) ? .isPlain(hasLength: length != nil) : nil
  }
}
