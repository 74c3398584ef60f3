package import PawlHTTP

/// The part of a stored response that answers a request. Conditions are evaluated first, then `If-Range`, then the range
/// (RFC 9110 §13.2.2).
package enum AnswerShape: Hashable, Sendable {
  case whole
  case part(ByteRange)
  case parts([ByteRange])
  /// 304.
  case notModified
  /// 416.
  case unsatisfiable
  /// A range of a body whose length is not known yet.
  case needsTotal

  /// The facts about the stored body that are not in its head.
  package struct Body {
    /// The length of the body in bytes; `nil` while unknown.
    let total: UInt64?
    /// Returns the offset up to which the bytes of the body are proven to be those that a strong tag names; `nil` when the tag
    /// names another body.
    let tagLimit: (_ opaque: [UInt8]) -> UInt64?

    package init(total: UInt64?, tagLimit: @escaping (_ opaque: [UInt8]) -> UInt64?) {
      (self.total, self.tagLimit) = (total, tagLimit)
    }

    func names(_ tag: EntityTag, _ head: StoredHead, strongly: Bool) -> Bool {
      // A strong tag that another proxy has made weak still names the body weakly (RFC 9110 §8.8.3.2).
      if !tag.isWeak || !strongly, tagLimit(tag.opaque) == .max { return true }
      guard !strongly else { return false }
      return head.validators.tag.map { $0.matchesWeakly(tag) } ?? false
    }
  }

  /// - Parameters:
  ///   - mayGivePart: whether the request may still get a part; see ``RangeCoding/allowsPart(isCoded:)``.
  ///   - maxRanges: the most ranges of one request; if it has more, the complete body is sent.
  /// - Returns: the shape, and the client's tag that the answer has to carry; `nil` for the body's own tag.
  package static func decide(
    _ request: RequestHead, of head: StoredHead, _ body: Body, mayGivePart: Bool, maxRanges: Int
  ) -> (shape: AnswerShape, shown: EntityTag?) {
    guard head.status == 200 else { return (.whole, nil) }
    let fields = request.fields
    let condition = evaluatePreconditions(request, validators: head.validators) {
      body.names($0, head, strongly: $1)
    }
    if condition == .notModified {
      guard case .tags(let list)? = EntityTagList(fields.all(.ifNoneMatch)) else { return (.notModified, nil) }
      let strong = list.first { !$0.isWeak && body.names($0, head, strongly: true) }
      // A client with a weak tag may hold another form of the body, so the answer must not carry a strong tag of this form.
      return (.notModified, strong ?? list.first { $0.isWeak && body.names($0, head, strongly: false) })
    }
    guard request.method == .get, mayGivePart, head.givesParts, let field = RangeField(fields) else {
      return (.whole, nil)
    }
    let ifRange = IfRange(fields)
    let shape = decide(field, ifRange, of: head, body, maxRanges)
    if shape != .whole, case .tag(let named)? = ifRange { return (shape, named) }
    return (shape, nil)
  }

  private static func decide(
    _ field: RangeField, _ ifRange: IfRange?, of head: StoredHead, _ body: Body, _ maxRanges: Int
  ) -> AnswerShape {
    var limit = UInt64.max
    switch ifRange {
    case nil: break
    case .tag(let tag)?:
      guard !tag.isWeak, let found = body.tagLimit(tag.opaque) else { return .whole }
      limit = found
    case .date?, .unusable?:
      guard ifRange?.holds(for: head.validators) == true else { return .whole }
    }
    guard let total = body.total else { return .needsTotal }
    let shape: AnswerShape =
      switch RangeSelection(field, length: total, maxRanges: maxRanges) {
      case .whole: .whole
      case .single(let range): .part(range)
      case .several(let ranges): .parts(ranges)
      case .unsatisfiable: .unsatisfiable
      }
    // Beyond the proven limit the bytes may belong to another body than the client's. A range that begins within the limit and
    // runs to the end of the body is sent: it replaces all bytes after the proven ones. After a range that ends earlier the
    // client may hold bytes of its own body, and would join the two; so the complete body is sent.
    switch shape {
    case .part(let range) where range.end > limit && (range.first > limit || range.end < total): return .whole
    case .parts(let ranges) where ranges.contains { $0.end > limit }: return .whole
    case .unsatisfiable where limit < total: return .whole
    default: return shape
    }
  }
}
