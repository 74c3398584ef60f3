import PawlCache
import PawlHTTP
import PawlLoop
import PawlWire
import Synchronization

/// What an origin compresses itself is found out by a few requests that go on with their own `Accept-Encoding`.
extension AnswerCoding {
  private static func kind(of request: IncomingRequest, isPersonal: Bool) -> OriginCodings.Kind {
    OriginCodings.Kind(route: request.route.serial, target: request.head.target, isPersonal: isPersonal)
  }

  /// Whether its own `Accept-Encoding` can tell anything. Of one that does not take gzip, which origins have, nothing can be concluded.
  private static func canFindOut(_ request: IncomingRequest) -> Bool {
    request.head.fields.contains(.acceptEncoding) && request.head.method == .get && request.route.asksIdentity
      && !request.head.fields.contains(.range) && accepted(by: request) != nil
      && AcceptEncoding(request.head.fields).accepts(.gzip)
  }

  /// Whether the origin is asked with the client's own `Accept-Encoding` this once, to learn what it compresses. Of requests with cookies
  /// or credentials those for a page are until that is known; else the first of each kind is, and of other requests one behind an answer
  /// of a type that the route does not compress.
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

  /// An answer came, to a request that asked as ``isToLearn(_:)`` says or for content that is not coded.
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

  /// Whether a stored answer goes out as it is for want of knowledge alone, and it is time to ask the origin beside that.
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

  /// No answer came to a request that was to find out: the next of its kind does.
  static func gotNoAnswer(_ request: IncomingRequest) {
    guard request.asksOwnCoding, let compression = request.route.compression else { return }
    let kind = kind(of: request, isPersonal: isSecret(request, compression))
    request.loop.shared.originCodings.withLock { $0.reopens(kind) }
  }

  /// What was asked beside an answer, and whatever came of it, is not asked so again at once.
  static func askedBeside(_ request: IncomingRequest) {
    guard let compression = request.route.compression else { return }
    let (kind, now) = (kind(of: request, isPersonal: isSecret(request, compression)), request.loop.loop.now)
    request.loop.shared.originCodings.withLock { $0.postpones(kind, at: now) }
  }

  private enum Said {
    case isCoded
    case isPlain(hasLength: Bool)
  }

  /// What an answer says of whether its like is compressed. Of what is small, or forbidden to be compressed, no origin says anything by
  /// sending it as it is.
  private static func said(by head: ResponseHead, _ framing: BodyFraming, _ compression: RouteCompression) -> Said? {
    guard head.status == 200 else { return nil }
    if RepresentationIdentity.codings(head.fields) != nil { return .isCoded }
    var length: UInt64?
    if case .length(let count) = framing { length = count }
    return compression.ofAnyType.apply(to: head, length: length) ? .isPlain(hasLength: length != nil) : nil
  }
}
