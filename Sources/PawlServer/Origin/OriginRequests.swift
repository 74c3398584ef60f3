import PawlCache
import PawlHTTP
import PawlUpload
import PawlUpstream

/// Makes requests to an origin from those of clients: without hop-by-hop fields, and with pawl's own fields.
enum OriginRequests {
  /// The number of passes through pawl after which a request is taken to be in a loop.
  static let loopLimit = 3

  static func isLoop(_ fields: Fields) -> Bool { Via.passages(in: fields) >= loopLimit }

  /// Makes the request that is forwarded: same method, target, end-to-end fields and content.
  static func forwarded(_ request: IncomingRequest, keepingUpgrade: Bool = false) -> RequestHead {
    let asked = request.head
    var fields = asked.fields
    forward(&fields, request, keepingUpgrade: keepingUpgrade)
    return RequestHead(
      method: asked.method, target: asked.target, authority: asked.authority, fields: fields, framing: asked.framing)
  }

  private static func forward(_ fields: inout Fields, _ request: IncomingRequest, keepingUpgrade: Bool = false) {
    let upgrade = keepingUpgrade ? fields.first(.upgrade) : nil
    // Reserve space for the usual fields below, so that they are added without moving the other fields again.
    fields.reserve(bytes: 320, lines: 10)
    HopByHop.strip(&fields)
    fields.removeAll(anyOf: ownWords)
    if request.hidesUploadFields { DeliveryHead.stripped(&fields) }
    // The application may trust this field, so a client must not set it.
    if !request.isDelivery {
      fields.removeAll(known: { _ in false }, others: { $0.equalsIgnoringCase("x-pawl-upload-id") })
    }
    MaxForwards.countDown(&fields, request.head.method)
    removeReferer(&fields, request.loop.router.urls)
    removeMintedTags(&fields)
    if !request.isTrustedPeer { removeForwarded(from: &fields) }
    let saysVia = saysVia(fields, request)
    let authority = KeyAuthority.told(request.head.authority, isSecure: request.isSecure)
    if authority.isEmpty || fields.mayContain(anyOf: forwardedNames) {
      request.facts.introduce(
        &fields, authority, fallbackHost: request.route.fallbackHost[...], request.head.version, saysVia: saysVia)
    } else {
      fields.append(request.facts.introduction(of: authority, request.head.version, saysVia: saysVia))
    }
    if !fields.contains(.xRequestID) { fields.append(.xRequestID, request.requestID) }
    // HTTP/1.0 clients cannot get trailers.
    if !request.isDelivery, request.head.version != .http10, Trailers.areTaken(by: request.head.fields) {
      fields.append(.connection, "te")
      fields.append(.te, "trailers")
    }
    if let upgrade {
      fields.append(.connection, "upgrade")
      fields.append(.upgrade, upgrade)
    }
  }

  /// Whether the request gets `Via` (RFC 9110 §7.6.3). With the setting `on`, a request that asks for a content coding does not
  /// get `Via`: many origins do not compress the response to a request with `Via`, and would send more bytes than without pawl.
  private static func saysVia(_ fields: Fields, _ request: IncomingRequest) -> Bool {
    switch request.route.via {
    case .always: return true
    case .off: return false
    case .on:
      guard fields.contains(.acceptEncoding) else { return true }
      let isSettled = request.head.method.isRetrieval && request.route.cache != nil && request.asksIdentity
      return isSettled || !RangeCoding.acceptsCodings(fields)
    }
  }

  private static let ownWords = FieldNameSet([.contentLength, .host, .requestRange])

  /// Removes a `Referer` that is the URL of an upload, which is a secret between its client and pawl.
  static func removeReferer(_ fields: inout Fields, _ urls: UploadURLs) {
    guard let referer = fields.first(.referer), urls.redacted(referer) != nil else { return }
    fields.removeAll(.referer)
  }

  private static let tagged = FieldNameSet([.ifRange, .ifNoneMatch])

  /// Removes conditions on tags that pawl minted. The origin does not know these tags, so the conditions are treated as false.
  private static func removeMintedTags(_ fields: inout Fields) {
    guard fields.mayContain(anyOf: tagged) else { return }
    if case .tag(let tag)? = IfRange(fields), AnswerTags.isMinted(tag) {
      fields.removeAll(.ifRange)
      fields.removeAll(.range)
    }
    if fields.contains(.ifNoneMatch) { fields = MintedConditions.ofRetrieval(fields) { _ in nil } }
  }

  /// Makes the GET that fetches a representation to store, without the client's conditions, ranges and content.
  static func fetch(_ request: IncomingRequest) -> RequestHead {
    var fields = request.head.fields
    forward(&fields, request)
    fields.removeAll(anyOf: notOfFetches)
    if request.asksIdentity { fields.set(.acceptEncoding, "identity") }
    return RequestHead(method: .get, target: request.head.target, authority: request.head.authority, fields: fields)
  }

  static let conditions: [FieldName] = [
    .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
  ]
  private static let notOfFetches = FieldNameSet(conditions + [.expect])

  /// Removes the fields of upload protocols, which are meant for pawl and not for the origin (UploadProtocols, "Fields removed
  /// before delivery").
  static func removeUploadFields(_ fields: inout Fields) {
    DeliveryHead.stripped(&fields)
    for name in [FieldName.incremental, .xHTTPMethodOverride] { fields.removeAll(name) }
  }

  private static let connectionWords = FieldNameSet([.contentLength, .altSvc])

  /// Returns the origin's response as the client gets it: without framing and hop-by-hop fields, which belong to one
  /// connection.
  static func relayed(_ head: ResponseHead) -> ResponseHead {
    var head = head
    head.fields.reserve(bytes: 160, lines: 4)
    HopByHop.strip(&head.fields)
    head.fields.removeAll(anyOf: connectionWords)
    head.version = .http11
    return head
  }
}

extension IncomingRequest {
  /// The request to the origin for the representation to store; made at first use, then kept.
  var asSent: RequestHead {
    if let sentHead { return sentHead }
    let made = OriginRequests.fetch(self)
    sentHead = made
    return made
  }

  /// Returns the same head without keeping it, for a fetch, which keeps the head itself.
  func makeSent() -> RequestHead { sentHead ?? OriginRequests.fetch(self) }
}
