import PawlCache
import PawlCacheStore
import PawlCoding
import PawlHTTP
import PawlLoop
import Synchronization

/// In which content coding a request gets an answer that came without one.
enum AnswerCoding {
  /// Whether the answer depends on `Accept-Encoding`: a request that takes a coding may get it in that.
  /// - Parameter length: octets; `nil`: not known.
  static func depends(_ head: ResponseHead, length: UInt64?, on request: IncomingRequest) -> Bool {
    guard let compression = request.route.compression else { return false }
    return compression.rules.apply(to: head, length: length) || isLearnt(head, length, request, compression)
  }

  /// - Parameter isForEverybody: the answer is no one user's (``StoredHead/isForEverybody``).
  /// - Returns: `nil`: as it is.
  static func choose(
    for request: IncomingRequest, _ head: ResponseHead, length: UInt64?, isForEverybody: Bool
  ) -> ContentCoding? {
    guard let coding = accepted(by: request), depends(head, length: length, on: request),
      isForEverybody || mayCompressPersonal(request)
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

  /// What a page says of its user can be guessed by its length, octet by octet, where somebody else can put words into it (BREACH): so
  /// only an application that compresses such pages itself has them compressed.
  private static func mayCompressPersonal(_ request: IncomingRequest) -> Bool {
    guard RequestFields.isPersonal(request.head.fields) else { return true }
    switch request.route.compression?.credentials {
    case .on?: return true
    case .off?, nil: return false
    case .auto?: return lesson(request) == true
    }
  }

  private static func lesson(_ request: IncomingRequest) -> Bool? {
    request.loop.shared.originCodings.withLock { $0.compresses(on: request.route.serial, at: request.loop.loop.now) }
  }

  private static func isLearnt(
    _ head: ResponseHead, _ length: UInt64?, _ request: IncomingRequest, _ compression: RouteCompression
  ) -> Bool {
    guard compression.hasLearnt.load(ordering: .relaxed) else { return false }
    let unlisted = unlisted(request)
    guard case .compressed(let type)? = unlisted, let own = head.fields.mediaType, own.equalsIgnoringCase(type) else {
      return false
    }
    return compression.ofAnyType.apply(to: head, length: length)
  }

  private static func unlisted(_ request: IncomingRequest) -> OriginCodings.Unlisted? {
    let key = OriginCodings.Key(route: request.route.serial, target: request.head.target)
    return request.loop.shared.originCodings.withLock { $0.unlisted(key, at: request.loop.loop.now) }
  }

  // MARK: - Learning

  /// Whether the origin is asked with the client's own `Accept-Encoding` this once, to learn what it compresses.
  static func isToLearn(_ request: IncomingRequest) -> Bool {
    guard request.head.fields.contains(.acceptEncoding), request.head.method == .get, request.route.asksIdentity,
      let compression = request.route.compression,
      accepted(by: request) != nil, !request.head.fields.contains(.range)
    else { return false }
    if unlisted(request) == .unknown { return true }
    return compression.credentials == .auto && RequestFields.isPersonal(request.head.fields) && lesson(request) == nil
  }

  /// An answer came, to a request that asked as ``isToLearn(_:)`` says or for content that is not coded.
  static func learn(_ head: ResponseHead, _ framing: BodyFraming, to request: IncomingRequest) {
    guard head.status == 200, request.head.fields.contains(.acceptEncoding),
      let compression = request.route.compression, let type = head.fields.mediaType, accepted(by: request) != nil
    else { return }
    var plain = head
    plain.fields.removeAll(.contentEncoding)
    let isCoded = RepresentationIdentity.codings(head.fields) != nil
    let (now, serial) = (request.loop.loop.now, request.route.serial)
    var length: UInt64?
    if case .length(let count) = framing, !isCoded { length = count }
    let isListed = compression.rules.apply(to: plain, length: length)
    let shared = request.loop.shared
    if isListed {
      guard request.asksOwnCoding else { return }
      return shared.originCodings.withLock { $0.note(isCoded, on: serial, at: now) }
    }
    guard isCoded || length.map({ $0 >= compression.rules.least }) ?? true else { return }
    let key = OriginCodings.Key(route: serial, target: request.head.target)
    let lesson: OriginCodings.Unlisted =
      request.asksOwnCoding ? (isCoded ? .compressed(type.map(\.lowercasedASCII)) : .plain) : .unknown
    if case .compressed = lesson { compression.hasLearnt.store(true, ordering: .relaxed) }
    shared.originCodings.withLock { table in
      if lesson == .unknown, table.unlisted(key, at: now) != nil { return }
      table.note(lesson, of: key, at: now)
    }
  }
}

// MARK: - Content that is compressed on its way

extension AnswerCoding {
  /// An answer for one client, as it is sent: `head` becomes that of the coded content where it is.
  /// - Parameter body: `nil`: what HEAD says of it.
  static func onItsWay(
    _ body: (any BodySource)?, _ length: ContentLength, under head: inout ResponseHead, to request: IncomingRequest,
    isForEverybody: Bool = false
  ) -> (body: (any BodySource)?, length: ContentLength) {
    let count: UInt64? = if case .known(let count) = length { count } else { nil }
    // Of HEAD the content is that which GET would have got, however long.
    guard length != .none || request.head.method == .head, depends(head, length: count, on: request) else {
      return (body, length)
    }
    guard let coding = choose(for: request, head, length: count, isForEverybody: isForEverybody) else {
      head.fields.addVaryAcceptEncoding()
      return (body, length)
    }
    return coded(body, length, under: &head, in: coding, for: request)
  }

  /// The same in this coding, where there is room for one more encoder.
  static func coded(
    _ body: (any BodySource)?, _ length: ContentLength, under head: inout ResponseHead, in coding: ContentCoding,
    for request: IncomingRequest
  ) -> (body: (any BodySource)?, length: ContentLength) {
    guard let body else {
      become(&head, coding)
      return (nil, .unknown)
    }
    guard let (share, coding) = share(of: request, coding),
      let stream = stream(body, in: coding, share, request)
    else {
      head.fields.addVaryAcceptEncoding()
      return (body, length)
    }
    become(&head, coding)
    return (stream, .unknown)
  }

  /// Content that is here whole.
  /// - Returns: what is sent in its place; `nil`: it is sent as it is.
  static func whole(
    _ content: UnsafeRawBufferPointer, under head: inout ResponseHead, to request: IncomingRequest
  ) -> [UInt8]? {
    guard depends(head, length: UInt64(content.count), on: request) else { return nil }
    guard let coding = choose(for: request, head, length: UInt64(content.count), isForEverybody: false),
      let (share, taken) = share(of: request, coding)
    else {
      head.fields.addVaryAcceptEncoding()
      return nil
    }
    defer { share.giveBack() }
    var output: [UInt8] = []
    do throws(CodingError) {
      let encoder = try ContentEncoder(taken, effort: .streamed)
      try encoder.encode(content, into: &output)
      try encoder.finish(into: &output)
    } catch {
      failed(error, request)
      head.fields.addVaryAcceptEncoding()
      return nil
    }
    become(&head, taken)
    return output
  }

  private static func become(_ head: inout ResponseHead, _ coding: ContentCoding) {
    head.fields.becomeCoded(in: coding)
    head.fields.removeAll(.acceptRanges)
  }

  /// Where there is no room for an encoder of this coding, there may be for gzip's.
  private static func share(
    of request: IncomingRequest, _ coding: ContentCoding
  ) -> (CodingMemory.Share, ContentCoding)? {
    let memory = request.loop.shared.codingMemory
    if let share = memory.take(for: coding, isKept: false) { return (share, coding) }
    guard coding != .gzip, request.route.compression?.codings.contains(.gzip) == true,
      AcceptEncoding(request.head.fields).accepts(.gzip), let share = memory.take(for: .gzip, isKept: false)
    else { return nil }
    return (share, .gzip)
  }

  private static func stream(
    _ body: any BodySource, in coding: ContentCoding, _ share: CodingMemory.Share, _ request: IncomingRequest
  ) -> CodedStream? {
    do throws(CodingError) {
      return try CodedStream(body, in: coding, share: share, on: request.loop)
    } catch {
      failed(error, request)
      return nil
    }
  }

  private static func failed(_ error: CodingError, _ request: IncomingRequest) {
    request.loop.events.log(.warning, "coding-failed", ["route": request.route.name, "why": "\(error)"])
  }
}

extension StoredResponse {
  /// The same answer with this form of its content.
  func form(_ body: StoredBody, in coding: ContentCoding) -> StoredResponse {
    StoredResponse(head: head.coded(in: coding), body: body, storedAt: storedAt)
  }
}
