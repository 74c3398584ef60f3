import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlWire

/// The answer that a stored response gives to requests without special fields. The fields that change every second are added when it is
/// sent. ``AnswerPlan``, ``AnswerShape`` and ``StoredAnswer`` decide it, as for all other requests; this class remembers their decision.
/// Belongs to one route, because the decision depends on the route's settings.
final class HotAnswer: Sendable {
  /// The head of a 200 with its length, without the empty line at its end.
  let head: [UInt8]
  /// The head of a 206, without the fields that say which part it is and how long it is.
  let partHead: [UInt8]
  /// The tag that the answer shows, with its quotes. Empty if a client with this tag in `If-Range` does not get every range that it asks
  /// for.
  private let tag: [UInt8]
  /// The length of the body, in bytes.
  let total: UInt64
  /// The time for which the decision holds.
  private let window: FreshWindow
  /// Whether requests with cookies may have this answer, too.
  let isForEverybody: Bool
  /// Whether requests that accept a content coding get a coded form: ``form(in:of:_:now:)``.
  let isCodable: Bool
  /// Whether pawl may still learn that the origin compresses this type of content. Until that is known, the full lookup of a
  /// ``DownloadExchange`` decides.
  let mayBeLearnt: Bool
  private let forms = Locked<[(coding: ContentCoding, response: StoredResponse)]>([])
  /// Whether the origin gave a `Date`; otherwise each answer gets the time at which it is sent.
  let hasDate: Bool
  /// The head of a 200 for HTTP/2; `nil` until it is needed.
  private let headOfHTTP2 = Locked<HTTP2FixedHead?>(nil)
  /// ``RouteSettings/serial`` of the route. The address of the settings would not identify them: after a reload other settings may be at
  /// the same address.
  private let route: Int

  private init(_ stored: StoredResponse, total: UInt64, tag: EntityTag?, _ route: RouteSettings, _ window: FreshWindow)
  {
    (self.total, self.window, self.route) = (total, window, route.serial)
    self.tag = tag?.bytes ?? []
    isForEverybody = stored.head.isForEverybody
    isCodable = Self.isCodable(stored, route)
    mayBeLearnt = !isCodable && Self.apply(route.compression?.ofAnyType, to: stored)
    hasDate = stored.head.fields.contains(.date)
    let own = EntityTag(strong: stored.body.primaryTag)
    head = Self.render(stored, route, status: 200, .length(total), own)
    partHead = Self.render(stored, route, status: 206, .none, own)
  }

  func isFresh(at now: Int64) -> Bool { window.contains(now) }
  /// The time from which the response is stale; wall clock, seconds.
  var freshUntil: Int64 { window.until }
  /// The time when the response was made, from which its `Age` counts; wall clock, seconds.
  var bornAt: Int64 { window.born }

  /// Returns the answer of `stored` on `route`; it is made at the first call and remembered. `nil` if it depends on more than the URL, or
  /// the body is not complete.
  static func of(_ stored: StoredResponse, _ route: RouteSettings, now: Int64) -> HotAnswer? {
    if let known = stored.rendered.withLock({ $0 }) as? HotAnswer, known.route == route.serial { return known }
    guard stored.body.isComplete, let made = made(of: stored, route, now: now) else { return nil }
    stored.rendered.withLock { $0 = made }
    return made
  }

  /// Decides the complete answer from a body that will be complete in a moment, for requests without a range. `nil` if the answer depends
  /// on more than the URL, or its status is not 200: then the full lookup decides.
  static func whole(
    of stored: StoredResponse, _ route: RouteSettings, now: Int64
  ) -> (head: [UInt8], window: FreshWindow, isCodable: Bool, mayBeLearnt: Bool)? {
    guard stored.head.status == 200, let total = stored.body.total,
      stored.head.answersAlike(asksIdentity: route.asksIdentity)
    else { return nil }
    let window = FreshWindow(stored.head, policy: route.policy, now: now)
    guard window.contains(now), decided([], stored, route, now)?.shape == .whole else { return nil }
    let isCodable = isCodable(stored, route)
    return (
      render(stored, route, status: 200, .length(total), EntityTag(strong: stored.body.firstTag)), window, isCodable,
      !isCodable && apply(route.compression?.ofAnyType, to: stored)
    )
  }

  private static func made(of stored: StoredResponse, _ route: RouteSettings, now: Int64) -> HotAnswer? {
    guard let total = stored.body.total, stored.head.answersAlike(asksIdentity: route.asksIdentity)
    else { return nil }
    let window = FreshWindow(stored.head, policy: route.policy, now: now)
    guard window.contains(now), givesWholeAndParts(stored, total, route, now) else { return nil }
    let tag = EntityTag(strong: stored.body.primaryTag)
    let isNamed = AnswerTags.areShown(of: stored, route) && givesAnyPart(of: stored, total, by: tag, route, now)
    return HotAnswer(stored, total: total, tag: isNamed ? tag : nil, route, window)
  }

  private static func isCodable(_ stored: StoredResponse, _ route: RouteSettings) -> Bool {
    apply(route.compression?.rules, to: stored)
  }

  private static func apply(_ rules: CompressionRules?, to stored: StoredResponse) -> Bool {
    guard let rules, !stored.body.isForm else { return false }
    let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
    return rules.apply(to: head, length: stored.body.total)
  }

  /// Returns the answer in this coding; `nil` while there is no complete form in this coding.
  func form(
    in coding: ContentCoding, of stored: StoredResponse, _ route: RouteSettings, now: Int64
  ) -> (response: StoredResponse, answer: HotAnswer)? {
    guard let body = stored.body.form(in: coding) else { return nil }
    let response = forms.withLock { forms in
      if let known = forms.first(where: { $0.coding == coding })?.response, known.body === body { return known }
      let made = stored.form(body, in: coding)
      forms.removeAll { $0.coding == coding }
      forms.append((coding, made))
      return made
    }
    return Self.of(response, route, now: now).map { (response, $0) }
  }

  /// Returns what a request with these fields gets: the complete content, or one range. `nil`: anything else, which the full lookup
  /// decides.
  func shape(range: Bytes?, ifRange: Bytes?) -> AnswerShape? {
    guard let range else { return ifRange == nil ? .whole : nil }
    if let ifRange, tag.isEmpty || !ifRange.elementsEqual(tag) { return nil }
    return RangeField.single(range, length: total).map(AnswerShape.part)
  }

  // MARK: - What the full lookup decides

  /// Whether requests without conditions get the complete content, or the range that they ask for (of an empty body: 416).
  private static func givesWholeAndParts(
    _ stored: StoredResponse, _ total: UInt64, _ route: RouteSettings, _ now: Int64
  ) -> Bool {
    let first = ByteRange(first: 0, last: 0)
    let part = total > 0 ? first.map(AnswerShape.part) : .unsatisfiable
    return decided([], stored, route, now)?.shape == .whole
      && decided([(.range, Array("bytes=0-0".utf8))], stored, route, now)?.shape == part
  }

  /// Whether a range request with this tag in `If-Range` gets any range that it asks for. The test asks for the last byte: if the tag is
  /// proven only up to some offset, a range after that offset is answered with the complete content.
  private static func givesAnyPart(
    of stored: StoredResponse, _ total: UInt64, by tag: EntityTag, _ route: RouteSettings, _ now: Int64
  ) -> Bool {
    guard total > 0 else { return false }
    var range = Array("bytes=".utf8)
    range.append(decimal: total - 1)
    range.append(0x2d)
    let answer = decided([(.range, range), (.ifRange, tag.bytes)], stored, route, now)
    return answer?.shape == ByteRange(first: total - 1, last: total - 1).map(AnswerShape.part) && answer?.shown == tag
  }

  /// Decides the answer to a GET that has only these fields. `nil` if the stored response alone does not answer it.
  private static func decided(
    _ lines: [(FieldName, [UInt8])], _ stored: StoredResponse, _ route: RouteSettings, _ now: Int64
  ) -> (shape: AnswerShape, shown: EntityTag?)? {
    var request = RequestHead(method: .get, target: [], authority: [])
    for (name, value) in lines { request.fields.append(name, value) }
    let whole = AnswerPlan.Stored(
      stored.head, asked: request.fields, policy: route.policy, now: now, hasTotal: true, missing: .nothing,
      isFilling: false)
    let plan = AnswerPlan.decide(.get, request.fields, stored: whole)
    guard plan == .stored else { return nil }
    return StoredAnswer.shape(of: stored, for: request, mayGivePart: true, maxRanges: route.maxRanges)
  }

  // MARK: - Its head

  /// Returns the head of a 200 for HTTP/2, which is made at the first call. Every call has to name the same response and route.
  func headForHTTP2(_ stored: StoredResponse, _ route: RouteSettings) -> HTTP2FixedHead {
    headOfHTTP2.withLock { head in
      if let head { return head }
      let made = HTTP2FixedHead(
        status: 200, Self.fields(of: stored, route, status: 200, EntityTag(strong: stored.body.primaryTag)),
        length: total)
      head = made
      return made
    }
  }

  /// Returns a head for HTTP/1.1, without the empty line at its end.
  /// - Parameter tag: the body's own tag.
  private static func render(
    _ stored: StoredResponse, _ route: RouteSettings, status: Int, _ framing: BodyFraming, _ tag: EntityTag
  ) -> [UInt8] {
    var output: [UInt8] = []
    HeadWriter.write(
      ResponseHead(status: status, fields: fields(of: stored, route, status: status, tag)), framing: framing,
      connection: .keepAlive, into: &output)
    output.removeLast(2)
    return output
  }

  /// Returns the fields that are the same in every answer.
  private static func fields(
    of stored: StoredResponse, _ route: RouteSettings, status: Int, _ tag: EntityTag
  ) -> Fields {
    var fields = stored.head.fields
    fields.removeAll(.age)
    // The same head is sent with and without TLS. With TLS, Strict-Transport-Security is added when the head is sent.
    if route.strictTransport != nil { StrictTransportField.remove(from: &fields) }
    if status == 206 { fields.removeMessageDigests() }
    if isCodable(stored, route) { fields.addVaryAcceptEncoding() }
    AnswerTags.put(into: &fields, tag, of: stored, route)
    Via.append(to: &fields, version: .http11)
    return fields
  }
}
