import PawlCache
import PawlHTTP
import PawlLoop
import Synchronization

/// Chooses the content coding that a client gets for a response without a content coding.
enum AnswerCoding {
  /// Whether the response depends on `Accept-Encoding`: a request that takes a coding may get it compressed.
  /// - Parameter length: the length of the content in bytes; `nil`: not known.
  static func depends(_ head: ResponseHead, length: UInt64?, on request: IncomingRequest) -> Bool {
    guard let compression = request.route.compression else { return false }
    return compression.rules.apply(to: head, length: length) || isLearnt(head, length, request, compression)
  }

  /// Chooses the coding for a response.
  /// - Parameter isForEverybody: whether all users get the same response (``StoredHead/isForEverybody``).
  /// - Returns: the coding; `nil`: the content is sent as it is.
  static func choose(
    for request: IncomingRequest, _ head: ResponseHead, length: UInt64?, isForEverybody: Bool
  ) -> ContentCoding? {
    // The client gets a range of the uncompressed content.
    let asksPart = request.head.method == .get && request.head.fields.contains(.range)
    guard !asksPart, let coding = accepted(by: request), depends(head, length: length, on: request),
      isForEverybody || mayCompressPersonal(head, request)
    else { return nil }
    return coding
  }

  /// Returns the coding that the request prefers; `nil`: it takes none.
  static func accepted(by request: IncomingRequest) -> ContentCoding? {
    let fields = request.head.fields
    // HTTP/1.0 has no chunks: only the end of the connection would mark the end of content without a length.
    guard let compression = request.route.compression, fields.contains(.acceptEncoding),
      request.head.version != .http10, !CompressionRules.forbidsTransforming(fields)
    else { return nil }
    return AcceptEncoding(fields).preferred(among: compression.codings)
  }

  /// Whether a response to a request with cookies or credentials may be compressed.
  ///
  /// An attacker who can put text into a page can guess the page's secrets from its compressed length, byte by byte (BREACH). So
  /// with `auto`, pages for requests with cookies or credentials are compressed only if the application compresses them itself.
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

  /// Whether responses to this request are compressed only if the origin itself compresses the responses to similar requests.
  static func isSecret(_ request: IncomingRequest, _ compression: RouteCompression) -> Bool {
    compression.credentials == .auto && RequestFields.isPersonal(request.head.fields)
  }
}

extension AnswerCoding {
  /// Whether a client that resumes with a date, not a tag, may hold a part of a coded form. The settings or the origin may have
  /// been different when the client got that part, so the client must not get a range of the uncompressed content.
  static func mayBeHeldCoded(_ fields: Fields, by request: IncomingRequest) -> Bool {
    guard request.namesByDateAlone else { return false }
    return fields.mediaType.map { !CompressedTypes.isCompressedItself($0) } ?? true
  }

  /// Makes the tag of a relayed response weak where the client may also get another form of the same content.
  ///
  /// There are two such responses: a 304 whose tag the client named as a weak tag, since it may be the tag of a coded form; and a
  /// response that the origin compressed only because this request was sent to learn (``isToLearn(_:)``).
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
