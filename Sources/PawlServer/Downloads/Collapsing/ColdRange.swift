import PawlBase
import PawlCache
import PawlHTTP

/// A range request for a resource of which nothing is stored: the range that the origin is asked for, and the part of its response that the
/// client gets. Pure.
struct ColdRange {
  /// The range of the representation that the origin is asked for, in bytes; `nil`: all of it.
  let range: Range<UInt64>?
  /// The fields that are added to the request.
  let fields: [(FieldName, [UInt8])]

  private static let conditions = FieldNameSet([.ifNoneMatch, .ifModifiedSince, .ifRange, .range])
  /// The client's conditions that the origin may answer with 304.
  static let conditional = FieldNameSet([.ifNoneMatch, .ifModifiedSince])

  /// Takes the client's own conditions, if the origin can evaluate them, and its range, widened to aligned borders. `If-Range` is not sent,
  /// because a 206 to such a request may leave out fields of the representation (RFC 9110 §15.3.7), and pawl needs all of them. pawl
  /// evaluates `If-Range` when the response has come.
  /// - Parameter mayAskForRange: if `false`, the origin is asked for the complete representation.
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

  /// Whether a response of the origin can fulfil the client's `If-Range` at all.
  private static func mayHold(_ condition: IfRange?) -> Bool {
    switch condition {
    case .tag(let tag)?: !AnswerTags.isMinted(tag) && !tag.isWeak
    case .unusable?: false
    case .date?, nil: true
    }
  }

  /// Widens a range to multiples of `fetchAlignment` bytes, so that neighbouring requests do not leave small holes. Adds less than
  /// `fetchAlignment` bytes at each end.
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

  // MARK: - The response

  /// Returns the part of a wider response that the client asked for. `nil` if the client did not ask for exactly one range, or no byte of
  /// its range is in the response.
  static func cut(_ part: ByteRange, total: UInt64, for asked: Fields, maxRanges: Int) -> ByteRange? {
    guard let field = RangeField(asked),
      case .single(let wanted) = RangeSelection(field, length: total, maxRanges: maxRanges)
    else { return nil }
    return ByteRange(first: max(wanted.first, part.first), last: min(wanted.last, part.last))
  }

  /// Whether the client's `If-Range` holds for the origin's response, though the request to the origin had no `If-Range` (RFC 9110
  /// §13.1.5).
  /// - Parameter now: wall clock, seconds since 1970.
  static func ifRangeHolds(_ asked: Fields, for answer: ResponseHead, now: Int64) -> Bool {
    IfRange(asked)?.holds(for: Validators(answer.fields, receivedAt: now)) ?? true
  }

  /// Whether a complete response is certainly the representation of which the client holds a part. If so, the range can be asked for after
  /// all, though ``RangeCoding/ownUnlessCoded`` forbade it at first.
  static func isProvenUncoded(_ asked: Fields, for answer: ResponseHead, now: Int64) -> Bool {
    answer.status == 200 && RepresentationIdentity.codings(answer.fields) == nil
      && asked.contains(.ifRange) && RangeField(asked) != nil && ifRangeHolds(asked, for: answer, now: now)
  }
}
