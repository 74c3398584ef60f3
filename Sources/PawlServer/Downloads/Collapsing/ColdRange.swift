import PawlBase
import PawlCache
import PawlHTTP

/// A range of something unknown: what is asked of the origin, and what of its answer the client gets. Pure.
struct ColdRange {
  /// Of the representation; `nil`: the whole is asked for.
  let range: Range<UInt64>?
  /// Fields that are put into the request.
  let fields: [(FieldName, [UInt8])]

  private static let conditions = FieldNameSet([.ifNoneMatch, .ifModifiedSince, .ifRange, .range])
  /// Conditions of a client's own that a 304 may answer.
  static let conditional = FieldNameSet([.ifNoneMatch, .ifModifiedSince])

  /// The client's own conditions, where they can be the origin's, and of a range the aligned span around it. Not its `If-Range`: a 206
  /// to that may leave out the fields of the representation (RFC 9110 §15.3.7), of which all are wanted; whether it holds is decided
  /// when the answer is here.
  /// - Parameter mayAskForRange: else the whole is wanted.
  init(_ asked: Fields, mayAskForRange: Bool) {
    guard asked.mayContain(anyOf: Self.conditions) else {
      (range, fields) = (nil, [])
      return
    }
    var extra: [(FieldName, [UInt8])] = []
    let tags = EntityTagList(asked.all(.ifNoneMatch))
    if case .tags(let list)? = tags, !list.contains(where: AnswerTags.isMinted) {
      extra.append((.ifNoneMatch, Array(asked.combined(.ifNoneMatch) ?? [])))
    }
    if tags == nil, let since = asked.only(.ifModifiedSince) { extra.append((.ifModifiedSince, Array(since))) }
    var span: Range<UInt64>?
    if mayAskForRange, let spec = RangeField(asked)?.specs.first, Self.mayHold(IfRange(asked)) {
      let (aligned, value) = Self.aligned(spec)
      extra.append((.range, value))
      span = aligned
    }
    (range, fields) = (span, extra)
  }

  /// Whether the origin's answer may be what the client holds a part of.
  private static func mayHold(_ condition: IfRange?) -> Bool {
    switch condition {
    case .tag(let tag)?: !AnswerTags.isMinted(tag) && !tag.isWeak
    case .unusable?: false
    case .date?, nil: true
    }
  }

  /// The borders of `fetchSpan`, so that neighbouring requests do not leave crumbs; at most so much beyond what is wanted.
  private static func aligned(_ spec: RangeSpec) -> (Range<UInt64>, [UInt8]) {
    let border = fetchAlignment
    var value = Array("bytes=".utf8)
    switch spec {
    case .suffix(let count):
      value.append(0x2d)
      value.append(decimal: count)
      return (0..<UInt64(Int64.max), value)
    case .from(let first, let last):
      let start = first / border * border
      value.append(decimal: start)
      value.append(0x2d)
      guard let last, last < UInt64(Int64.max) - border else { return (start..<UInt64(Int64.max), value) }
      let end = (last / border + 1) * border
      value.append(decimal: end - 1)
      return (start..<end, value)
    }
  }

  // MARK: - Of the answer

  /// Of an answer to a wider range what was asked for; `nil` where that is not one range, or none of it is in there.
  static func cut(_ part: ByteRange, total: UInt64, for asked: Fields, maxRanges: Int) -> ByteRange? {
    guard let field = RangeField(asked),
      case .single(let wanted) = RangeSelection(field, length: total, maxRanges: maxRanges)
    else { return nil }
    return ByteRange(first: max(wanted.first, part.first), last: min(wanted.last, part.last))
  }

  /// The origin was not told of the client's `If-Range` (RFC 9110 §13.1.5): its part is the client's where that names it.
  /// - Parameter now: wall clock, seconds since 1970.
  static func ifRangeHolds(_ asked: Fields, for answer: ResponseHead, now: Int64) -> Bool {
    IfRange(asked)?.holds(for: Validators(answer.fields, receivedAt: now)) ?? true
  }

  /// With ``RangeCoding/ownUnlessCoded``, whether the whole that a request is given after all is, for certain, what its client holds a part of: then the part can be asked
  /// for.
  static func isProvenUncoded(_ asked: Fields, for answer: ResponseHead, now: Int64) -> Bool {
    answer.status == 200 && RepresentationIdentity.codings(answer.fields) == nil
      && asked.contains(.ifRange) && RangeField(asked) != nil && ifRangeHolds(asked, for: answer, now: now)
  }
}
