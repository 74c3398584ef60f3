import PawlCache
import PawlHTTP
import PawlLoop
import Synchronization

/// In which content coding a request gets an answer that came without one.
enum AnswerCoding {
  /// Whether the answer depends on `Accept-Encoding`: a request that takes a coding may get it in that.
  /// - Parameter length: bytes; `nil`: not known.
  static func depends(_ head: ResponseHead, length: UInt64?, on request: IncomingRequest) -> Bool {
    guard let compression = request.route.compression else { return false }
    return compression.rules.apply(to: head, length: length) || isLearnt(head, length, request, compression)
  }

  /// - Parameter isForEverybody: the answer is no one user's (``StoredHead/isForEverybody``).
  /// - Returns: `nil`: as it is.
  static func choose(
    for request: IncomingRequest, _ head: ResponseHead, length: UInt64?, isForEverybody: Bool
  ) -> ContentCoding? {
    // A range that is asked for is of the content as it is.
    let asksPart = request.head.method == .get && request.head.fields.contains(.range)
    guard !asksPart, let coding = accepted(by: request), depends(head, length: length, on: request),
      isForEverybody || mayCompressPersonal(head, request)
    else { return nil }
    return coding
  }

  /// The coding that a request takes best; `nil`: none.
  static func accepted(by request: IncomingRequest) -> ContentCoding? {
    let fields = request.head.fields
    // Of content without a length HTTP/1.0 has no end but that of the connection.
    guard let compression = request.route.compression, fields.contains(.acceptEncoding),
      request.head.version != .http10, !CompressionRules.forbidsTransforming(fields)
    else { return nil }
    return AcceptEncoding(fields).preferred(among: compression.codings)
  }

  /// What a page says of its user can be guessed by its length, byte by byte, where somebody else can put words into it (BREACH): so
  /// only an application that compresses such pages itself has them compressed.
  private static func mayCompressPersonal(_ head: ResponseHead, _ request: IncomingRequest) -> Bool {
    guard RequestFields.isPersonal(request.head.fields) else { return true }
    switch request.route.compression?.credentials {
    case .on?: return true
    case .off?, nil: return false
    case .auto?: return lesson(head, request, isPersonal: true) == true
    }
  }

  static func lesson(_ head: ResponseHead, _ request: IncomingRequest, isPersonal: Bool) -> Bool? {
    guard let type = head.fields.mediaType else { return nil }
    let subject = OriginCodings.Subject(
      route: request.route.serial, type: type, target: request.head.target[...], isPersonal: isPersonal)
    return request.loop.shared.originCodings.withLock { $0.compresses(subject, at: request.loop.loop.now) }
  }

  private static func isLearnt(
    _ head: ResponseHead, _ length: UInt64?, _ request: IncomingRequest, _ compression: RouteCompression
  ) -> Bool {
    guard compression.hasLearnt.load(ordering: .relaxed) else { return false }
    return lesson(head, request, isPersonal: isSecret(request, compression)) == true
      && compression.ofAnyType.apply(to: head, length: length)
  }

  /// Whether its answers are compressed only where the origin does so for requests like it.
  static func isSecret(_ request: IncomingRequest, _ compression: RouteCompression) -> Bool {
    compression.credentials == .auto && RequestFields.isPersonal(request.head.fields)
  }
}

extension AnswerCoding {
  /// Whether a client that names what it holds by a date may hold a coded form of this, whatever was configured, or known of the origin,
  /// when it got that: a part of the content as it is must not be put behind it.
  static func mayBeHeldCoded(_ fields: Fields, by request: IncomingRequest) -> Bool {
    guard request.namesByDateAlone else { return false }
    return fields.mediaType.map { !CompressedTypes.isCompressedItself($0) } ?? true
  }

  /// What is passed on as the origin said it, in words that hold beside what else this client is given: a tag that it knows as a weak one
  /// stays that, for it may be that of a coded form; and so does that of what the origin has coded this once.
  static func keepApart(_ head: inout ResponseHead, for request: IncomingRequest) {
    guard request.route.compression != nil else { return }
    let isCodedOnce = request.asksOwnCoding && RepresentationIdentity.codings(head.fields) != nil
    if isCodedOnce { head.fields.addVaryAcceptEncoding() }
    guard isCodedOnce || head.status == 304, let tag = head.fields.only(.etag).flatMap(EntityTag.init), !tag.isWeak
    else { return }
    if !isCodedOnce {
      guard case .tags(let named)? = EntityTagList(request.head.fields.all(.ifNoneMatch)),
        named.contains(where: { $0.isWeak && $0.opaque == tag.opaque }),
        !named.contains(where: { !$0.isWeak && $0.opaque == tag.opaque })
      else { return }
      head.fields.addVaryAcceptEncoding()
    }
    head.fields.set(.etag, EntityTag(weak: tag.opaque).bytes)
  }
}
