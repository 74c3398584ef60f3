import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP

/// The answer that a stored response gives to a request: its shape, and the head for each shape. Pure, except that it reads the momentary
/// state of the body.
struct StoredAnswer {
  let shape: AnswerShape
  private let stored: StoredResponse
  private let request: IncomingRequest
  private let served: Served
  /// The tag to show: the one that the client named, if that is an alias; otherwise the body's own.
  private let tag: EntityTag

  init(_ stored: StoredResponse, request: IncomingRequest, served: Served, isOutOfPatience: Bool) {
    (self.stored, self.request, self.served) = (stored, request, served)
    let mayGivePart =
      !isOutOfPatience && request.rangeCoding.allowsPart(isCoded: stored.head.coding != nil)
      && !AnswerCoding.mayBeHeldCoded(stored.head.fields, by: request)
    let own = EntityTag(strong: stored.body.primaryTag)
    let (shape, shown) = Self.shape(
      of: stored, for: request.head, mayGivePart: mayGivePart, maxRanges: request.route.maxRanges)
    (self.shape, tag) = (shape, shown ?? own)
  }

  static func shape(
    of stored: StoredResponse, for request: RequestHead, mayGivePart: Bool, maxRanges: Int
  ) -> (shape: AnswerShape, shown: EntityTag?) {
    let body = AnswerShape.Body(total: stored.body.total, tagLimit: stored.body.tagLimit)
    return AnswerShape.decide(request, of: stored.head, body, mayGivePart: mayGivePart, maxRanges: maxRanges)
  }

  /// Whether one of the tags certainly names all content of this answer (`If-Match`, RFC 9110 §13.1.1). A tag that is proven only up to
  /// some offset does not name the complete body.
  func isNamed(by tags: [EntityTag]) -> Bool {
    tags.contains { tag in
      guard !tag.isWeak, let limit = stored.body.tagLimit(tag.opaque) else { return false }
      return limit == .max || shape != .whole
    }
  }

  /// The range of the body that the answer needs first; `nil` if it needs no bytes of the body.
  func wanted(of total: UInt64) -> Range<UInt64>? {
    switch shape {
    case .whole: total > 0 ? 0..<total : nil
    case .part(let range): range.first..<range.end
    case .parts(let ranges): ranges.first.map { $0.first..<$0.end }
    case .notModified, .unsatisfiable, .needsTotal: nil
    }
  }

  /// The offset in the body where the content begins; `nil` for an answer without content from the body.
  var firstByte: UInt64? {
    switch shape {
    case .whole: stored.body.total == 0 || stored.head.status == 204 ? nil : 0
    case .part(let range): range.first
    case .parts(let ranges): ranges.first?.first
    case .notModified, .unsatisfiable, .needsTotal: nil
    }
  }

  // MARK: - Heads

  func whole() -> ResponseHead { head(status: stored.head.status, fields: stored.head.fields) }

  func part(_ range: ByteRange) -> ResponseHead {
    var fields = stored.head.fields
    fields.removeMessageDigests()
    fields.set(.contentRange, ContentRange.format(range, total: stored.body.total ?? range.end))
    return head(status: 206, fields: fields)
  }

  func parts(contentType: [UInt8]) -> ResponseHead {
    var fields = stored.head.fields
    fields.removeMessageDigests()
    fields.set(.contentType, contentType)
    return head(status: 206, fields: fields)
  }

  func notModified() -> ResponseHead {
    var fields = stored.head.fields
    for name in [FieldName.contentType, .contentEncoding, .contentLanguage, .contentDisposition, .contentDigest] {
      fields.removeAll(name)
    }
    return head(status: 304, fields: fields)
  }

  func unsatisfiable() -> Replies.Reply {
    let total = stored.body.total ?? 0
    var fields = Fields()
    for name in [FieldName.date, .lastModified, .vary, .cacheControl, .expires] {
      if let value = stored.head.fields.combined(name) { fields.append(name, value) }
    }
    fields.append(.contentRange, ContentRange.unsatisfied(total: total))
    fields.append(.contentType, "text/plain; charset=utf-8")
    let body = Array("416 Range Not Satisfiable\n\nThe range lies beyond the end: there are \(total) bytes.\n".utf8)
    return Replies.Reply(head: head(status: 416, fields: fields), body: body)
  }

  private func head(status: Int, fields: Fields) -> ResponseHead {
    var fields = fields
    if stored.head.status == 200 { AnswerTags.put(into: &fields, tag, of: stored, request.route) }
    let now = request.loop.loop.wallSeconds
    let freshness = Freshness.evaluate(stored.head, policy: request.route.policy, now: now)
    if isCodable { fields.addVaryAcceptEncoding() }
    if served.arrival.map({ !$0.isJustFetched }) ?? true || fields.contains(.age) { setAge(freshness.age, &fields) }
    for cookie in served.setCookies { fields.append(.setCookie, cookie) }
    cacheStatus(freshness).append(to: &fields)
    return ResponseHead(status: status, fields: fields)
  }

  /// Whether other requests may get this response in another coding.
  private var isCodable: Bool {
    guard request.route.compression != nil, !stored.body.isForm else { return false }
    // The origin coded this response. If the origin was asked for identity, all requests get the response as it is.
    if stored.head.coding != nil { return !stored.head.isOfIdentityRequests }
    let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
    return AnswerCoding.depends(head, length: stored.body.total, on: request)
  }

  private func setAge(_ age: Int64, _ fields: inout Fields) {
    var digits: [UInt8] = []
    digits.append(decimal: UInt64(max(0, age)))
    fields.set(.age, digits)
  }

  private func cacheStatus(_ freshness: Freshness) -> CacheStatus {
    switch served.arrival {
    case nil:
      var status = CacheStatus(hit: true)
      status.ttl = freshness.lifetime - freshness.age
      if !stored.body.isComplete { status.detail = "partial" }
      return status
    case .validated?:
      var status = CacheStatus(fwd: .stale)
      status.fwdStatus = 304
      status.collapsed = served.isCollapsed
      return status
    case .confirmed?:
      var status = CacheStatus(fwd: .varyMiss)
      status.fwdStatus = 304
      return status
    case .staleOnError?:
      var status = CacheStatus(hit: true)
      status.ttl = freshness.lifetime - freshness.age
      status.detail = "stale-on-error"
      return status
    case .fetched(let code, let reason)?:
      var status = CacheStatus(fwd: reason)
      status.fwdStatus = code
      status.stored = true
      status.collapsed = served.isCollapsed
      return status
    }
  }
}

extension CollapsedFetch.Arrival {
  var isJustFetched: Bool { if case .fetched = self { true } else { false } }
}
