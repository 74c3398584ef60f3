import PawlCache
import PawlHTTP
import PawlStore

/// The answer that a stored response gives to a request: which of its shapes, and the head of each. Pure but for the
/// momentary state of the body.
struct StoredAnswer {
  enum Shape: Hashable {
    case whole
    case part(ByteRange)
    case parts([ByteRange])
    case notModified
    case unsatisfiable
    /// A range of something whose length nobody knows yet.
    case needsTotal
  }

  let shape: Shape
  private let stored: StoredResponse
  private let request: IncomingRequest
  private let served: Served
  /// The tag to show: the one the client named where that is an alias, else the body's own.
  private let tag: EntityTag

  init(_ stored: StoredResponse, request: IncomingRequest, served: Served, isOutOfPatience: Bool) {
    (self.stored, self.request, self.served) = (stored, request, served)
    let body = stored.body
    let own = EntityTag(strong: body.primaryTag)
    let fields = request.head.fields
    func names(_ tag: EntityTag, strongly: Bool) -> Bool {
      if !tag.isWeak, body.tagLimit(tag.opaque) == .max { return true }
      guard !strongly else { return false }
      return stored.head.validators.tag.map { $0.matchesWeakly(tag) } ?? false || body.tagLimit(tag.opaque) == .max
    }
    var shown = own
    var shape = Shape.whole
    if stored.head.status == 200 {
      if evaluatePreconditions(request.head, validators: stored.head.validators, isMatch: names) == .notModified {
        shape = .notModified
        if case .tags(let list)? = EntityTagList(fields.all(.ifNoneMatch)),
          let named = list.first(where: { !$0.isWeak && names($0, strongly: true) })
        {
          shown = named
        }
      } else if request.head.method == .get, !isOutOfPatience, stored.head.givesParts,
        request.rangeCoding.allowsPart(isCoded: stored.head.coding != nil), let field = RangeField(fields)
      {
        shape = Self.shape(of: field, stored, fields, request.route.maxRanges)
        if shape != .whole, case .tag(let named)? = IfRange(fields) { shown = named }
      }
    }
    (self.shape, tag) = (shape, shown)
  }

  private static func shape(of field: RangeField, _ stored: StoredResponse, _ fields: Fields, _ maxRanges: Int) -> Shape
  {
    var limit = UInt64.max
    switch IfRange(fields) {
    case nil: break
    case .unusable?: return .whole
    case .tag(let tag)?:
      guard !tag.isWeak, let found = stored.body.tagLimit(tag.opaque) else { return .whole }
      limit = found
    case .date(let date)?:
      let validators = stored.head.validators
      guard validators.lastModified == date, validators.lastModifiedIsStrong(margin: 1) else { return .whole }
    }
    guard let total = stored.body.total else { return .needsTotal }
    let shape: Shape =
      switch RangeSelection(field, length: total, maxRanges: maxRanges) {
      case .whole: .whole
      case .single(let range): .part(range)
      case .several(let ranges): .parts(ranges)
      case .unsatisfiable: .unsatisfiable
      }
    // Beyond what is proven of this tag, the bytes may be another's. All of them together continue what was proven; a piece may
    // be put before others that the client holds.
    switch shape {
    case .part(let range) where range.end > limit && (range.first > limit || range.end < total): return .whole
    case .parts(let ranges) where ranges.contains { $0.end > limit }: return .whole
    case .unsatisfiable where limit < total: return .whole
    default: return shape
    }
  }

  /// Whether answers bear a tag of the body's, and not what the origin said of it: a tag of pawl's own where the route has
  /// that, or the origin's strong one.
  static func showsTag(_ stored: StoredResponse, _ route: RouteSettings) -> Bool {
    if route.etag == .auto { return true }
    guard let tag = stored.head.validators.tag, !tag.isWeak else { return false }
    return tag.opaque == stored.body.primaryTag
  }

  /// The bytes that the answer needs.
  func wanted(of total: UInt64) -> Range<UInt64>? {
    switch shape {
    case .whole: total > 0 ? 0..<total : nil
    case .part(let range): range.first..<range.end
    case .parts(let ranges): ranges.first.map { $0.first..<$0.end }
    case .notModified, .unsatisfiable, .needsTotal: nil
    }
  }

  /// Where the content begins in the body; `nil` for an answer without content of it.
  var firstOctet: UInt64? {
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
    if stored.head.status == 200 {
      if Self.showsTag(stored, request.route) { fields.set(.etag, tag.bytes) }
      fields.set(.acceptRanges, stored.head.givesParts ? "bytes" : "none")
    }
    let now = request.loop.loop.wallSeconds
    let freshness = Freshness.evaluate(stored.head, policy: request.route.policy, now: now)
    if served.arrival.map({ !$0.isJustFetched }) ?? true || fields.contains(.age) { setAge(freshness.age, &fields) }
    for cookie in served.setCookies { fields.append(.setCookie, cookie) }
    cacheStatus(freshness).append(to: &fields)
    return ResponseHead(status: status, fields: fields)
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
