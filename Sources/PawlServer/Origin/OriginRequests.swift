import PawlCache
import PawlHTTP
import PawlUpload
import PawlUpstream

/// Builds what is sent to an origin from what a client asked: hop-by-hop fields gone, pawl's own put in.
enum OriginRequests {
  /// Requests that have come by pawl this often go in a circle.
  static let loopLimit = 3

  static func isLoop(_ fields: Fields) -> Bool { Via.passages(in: fields) >= loopLimit }

  /// The request as it is forwarded: same method, target, end-to-end fields and content.
  static func forwarded(_ request: IncomingRequest, keepingUpgrade: Bool = false) -> RequestHead {
    let asked = request.head
    var fields = asked.fields
    forward(&fields, request, keepingUpgrade: keepingUpgrade)
    return RequestHead(
      method: asked.method, target: asked.target, authority: asked.authority, fields: fields, framing: asked.framing)
  }

  private static func forward(_ fields: inout Fields, _ request: IncomingRequest, keepingUpgrade: Bool = false) {
    let upgrade = keepingUpgrade ? fields.first(.upgrade) : nil
    // What follows, at its usual size, is put in without moving the rest again.
    fields.reserve(bytes: 320, lines: 10)
    HopByHop.strip(&fields)
    fields.removeAll(anyOf: ownWords)
    if request.hidesUploadFields { DeliveryHead.stripped(&fields) }
    // An application may trust it.
    if !request.isDelivery {
      fields.removeAll(known: { _ in false }, others: { $0.equalsIgnoringCase("x-pawl-upload-id") })
    }
    MaxForwards.countDown(&fields, request.head.method)
    removeReferer(&fields, request.loop.router.urls)
    keepOwnTags(&fields)
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
    // HTTP/1.0 has no trailers to be sent.
    if !request.isDelivery, request.head.version != .http10, Trailers.areTaken(by: request.head.fields) {
      fields.append(.connection, "te")
      fields.append(.te, "trailers")
    }
    if let upgrade {
      fields.append(.connection, "upgrade")
      fields.append(.upgrade, upgrade)
    }
  }

  /// `Via`, as RFC 9110 §7.6.3 wants it, unless the origin is asked for a content coding: many compress nothing for a request with
  /// it, and would send more than they do without pawl.
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

  /// The URL of an upload is a secret between its client and pawl.
  static func removeReferer(_ fields: inout Fields, _ urls: UploadURLs) {
    guard let referer = fields.first(.referer), urls.redacted(referer) != nil else { return }
    fields.removeAll(.referer)
  }

  private static let tagged = FieldNameSet([.ifRange, .ifNoneMatch])

  /// Tags that pawl minted mean nothing to an origin: conditions on them are as if they were false.
  private static func keepOwnTags(_ fields: inout Fields) {
    guard fields.mayContain(anyOf: tagged) else { return }
    if case .tag(let tag)? = IfRange(fields), AnswerTags.isMinted(tag) {
      fields.removeAll(.ifRange)
      fields.removeAll(.range)
    }
    if fields.contains(.ifNoneMatch) { fields = MintedConditions.ofRetrieval(fields) { _ in nil } }
  }

  /// A GET for the stored representation: nothing of the client's conditions or ranges, no content.
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

  /// What clients and pawl say to each other about uploads, and origins do not hear (protocols 9.2).
  static func removeUploadFields(_ fields: inout Fields) {
    DeliveryHead.stripped(&fields)
    for name in [FieldName.incremental, .xHTTPMethodOverride] { fields.removeAll(name) }
  }

  private static let connectionWords = FieldNameSet([.contentLength, .altSvc])

  /// An answer of the origin as the client gets it: framing and hop-by-hop fields are the connection's own.
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
  /// As the origin is asked for the stored representation.
  var asSent: RequestHead {
    if let sentHead { return sentHead }
    let made = OriginRequests.fetch(self)
    sentHead = made
    return made
  }

  /// The same for a fetch, which keeps it itself.
  func makeSent() -> RequestHead { sentHead ?? OriginRequests.fetch(self) }
}
