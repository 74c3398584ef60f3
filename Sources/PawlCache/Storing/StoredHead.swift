package import PawlHTTP

/// The status and the fields of a stored response, without its body. Immutable; an update by a 304 makes a new head
/// (``mergeNotModified(_:_:requestTime:responseTime:isRenewal:taking:)``). Times are wall clock, seconds since 1970.
package struct StoredHead: Equatable, Sendable {
  package let status: Int
  /// The fields as the origin sent them (RFC 9111 §3.1), without hop-by-hop fields, `Set-Cookie`, `Content-Length`, and the
  /// fields that `consistent` removes.
  package let fields: Fields
  /// When the request was sent, and when the head of the response had arrived.
  package let requestTime: Int64, responseTime: Int64
  /// The request fields that selected this response; `Accept-Encoding` is added for a coded response whose `Vary` lacks it.
  package let vary: VaryRule
  /// The values of these request fields, normalised.
  package let selecting: [UInt8]
  /// The validators. Their date is that of the response that brought the bytes, also after a 304: only that date shows whether
  /// `Last-Modified` names one byte sequence (RFC 9110 §8.8.2.2).
  package let validators: Validators
  /// The cache directives that apply: those of `CDN-Cache-Control`, or else those of `Cache-Control`.
  package let cacheControl: CacheControl
  /// Whether `CDN-Cache-Control` applies; `Expires` is then ignored.
  package let isTargeted: Bool
  /// Whether the response is for all clients, by `public` or an explicit lifetime. If so, the cookies of a request do not matter.
  package let isForEverybody: Bool
  /// Whether ranges of the response are served. A `multipart/byteranges` response is always sent completely, because the client
  /// of a 206 of that type would believe that pawl made the parts (RFC 9110 §15.3.7.2).
  package let givesParts: Bool
  /// The lifetime that the origin gave, in seconds; `nil` when it gave none in the fields that apply.
  let explicitLifetime: Int64?
  /// `Date` of the newest response, seconds since 1970.
  let date: Int64?
  /// The age of the response on arrival, in seconds (RFC 9111 §4.2.3, corrected initial age).
  let initialAge: Int64
  /// The values that a request must share with the request of this response, besides the URL and the fields in `Vary`. For a
  /// response that is not for all clients: the bytes of `Cookie`. For a status of 300 or more: the fields that may have caused
  /// the status (``RequestFields/errorKey(status:_:)``). Empty where there are no such values.
  package let implicitKey: [UInt8]
  /// Whether the response is used only for clients to whom the origin confirmed it (``Storability/sharedOnceConfirmed``).
  package var isOnceConfirmed: Bool { implicitKey == Self.onceConfirmed }
  /// The cookies in ``implicitKey``: those of the request that this response answered, if they count.
  package var keyCookies: Bytes { isOnceConfirmed ? [] : implicitKey.prefix { $0 != 0 } }
  /// The implicit key of a response for which ``isOnceConfirmed`` is true. No request has this key.
  private static let onceConfirmed: [UInt8] = [1]

  /// - Parameters:
  ///   - request: as the client sent it.
  ///   - asSent: the fields of the request as the origin got them; `nil` if they are the same.
  ///   - storability: ``Storability/sharedPerCookie`` binds the response to the request's cookies.
  ///   - asksIdentity: whether the request to the origin had `Accept-Encoding: identity`, whatever the client accepts.
  package init(
    request: RequestHead, asSent: Fields? = nil, response: ResponseHead, requestTime: Int64, responseTime: Int64,
    storability: Storability = .shared, asksIdentity: Bool
  ) {
    var fields = Self.storedFields(response.fields)
    if RequestFields.isEchoed(request.fields, in: fields), !VaryRule(fields).isStar { fields.append(.vary, "Origin") }
    let key =
      storability == .sharedOnceConfirmed
      ? Self.onceConfirmed
      : Self.implicitKey(status: response.status, request.fields, countsCookies: storability == .sharedPerCookie)
    let selecting = Self.varyRule(fields).selectingValues(
      in: Self.selectionFields(asSent ?? request.fields, asksIdentity: asksIdentity))
    self.init(
      status: response.status, fields: fields, requestTime: requestTime, responseTime: responseTime,
      bytesDate: Validators(fields, receivedAt: responseTime).date, selecting: selecting, implicitKey: key)
  }

  /// Makes a head; everything else is derived from the fields.
  init(
    status: Int, fields: Fields, requestTime: Int64, responseTime: Int64, bytesDate: Int64?, selecting: [UInt8],
    implicitKey: [UInt8]
  ) {
    let fields = Self.consistent(fields, status: status)
    let directives = ResponseDirectives(fields)
    (self.status, self.fields) = (status, fields)
    (self.requestTime, self.responseTime) = (requestTime, responseTime)
    vary = Self.varyRule(fields)
    self.selecting = selecting
    var validators = Validators(fields, receivedAt: responseTime)
    date = validators.date
    validators.date = bytesDate
    self.validators = validators
    (cacheControl, isTargeted) = (directives.cacheControl, directives.isTargeted)
    isForEverybody =
      implicitKey != Self.onceConfirmed && directives.meansEverybody(fields, receivedAt: responseTime)
    givesParts = status == 200 && !fields.isMultipartRanges
    explicitLifetime = directives.explicitLifetime(fields, receivedAt: responseTime)
    initialAge = Freshness.initialAge(
      fields, date: date, requestTime: requestTime, responseTime: responseTime)
    self.implicitKey = implicitKey
  }

  /// Whether a request selects this response: it has the same values of the fields in `Vary` (RFC 9111 §4.1) and the same
  /// implicit key.
  /// - Parameters:
  ///   - request: as the client sent it.
  ///   - asSent: returns the fields of the request as the origin gets them. `Vary` refers to these, since pawl sets and removes
  ///     some fields. Called only where `Vary` names a field.
  package func isSelected(by request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard !vary.isStar, hasImplicitKey(of: request.fields) else { return false }
    guard !vary.names.isEmpty else { return true }
    if asksIdentity, vary.names.count == 1, FieldName(vary.names[0]) == .acceptEncoding {
      return vary.selectingValues(in: Self.identityOnly) == selecting
    }
    return vary.selectingValues(in: Self.selectionFields(asSent(), asksIdentity: asksIdentity)) == selecting
  }

  /// Whether another response has the strong tag of these bytes: one strong tag names one byte sequence (RFC 9110 §8.8.3.2).
  func isNamedStrongly(by fields: Fields) -> Bool {
    guard let own = validators.tag else { return false }
    return fields.only(.etag).flatMap(EntityTag.init).map(own.matchesStrongly) ?? false
  }

  /// Whether `newer`, which arrived while this response was on its way, has a later date (RFC 9111 §4).
  package func isOvertaken(by newer: StoredHead) -> Bool {
    guard let date, let later = newer.date else { return false }
    return date < later && requestTime <= newer.responseTime
  }

  /// Whether the fields of the response give a lifetime above zero; heuristics and settings do not count.
  package var givesLifetime: Bool { explicitLifetime ?? 0 > 0 }

  /// Whether the origin gives no directive about reuse (`collapse = always`).
  package var saysNothingOfReuse: Bool {
    explicitLifetime == nil && !cacheControl.noCache && !cacheControl.isPrivate && !cacheControl.noStore
  }

  private static let identityOnly = selectionFields(Fields(), asksIdentity: true)

  private func hasImplicitKey(of fields: Fields) -> Bool {
    if isOnceConfirmed { return false }
    if isForEverybody, status < 300 { return true }
    if implicitKey.isEmpty, status < 300 { return !fields.contains(.cookie) }
    return implicitKey == Self.implicitKey(status: status, fields, countsCookies: !isForEverybody)
  }

  /// The fields of a response that may be stored and sent to other clients.
  static func storedFields(_ received: Fields) -> Fields {
    var fields = received
    HopByHop.strip(&fields)
    // The length is taken from the stored bytes; cookies are for one client.
    fields.removeAll { name, _, _ in name == .contentLength || name == .setCookie }
    return fields
  }

  /// The `Vary` of a response. For a coded response `Accept-Encoding` is added, because this field must have selected the
  /// response.
  static func varyRule(_ fields: Fields) -> VaryRule {
    guard let coding = fields.combined(.contentEncoding), !coding.isEmpty, !coding.equalsIgnoringCase("identity") else {
      return VaryRule(fields)
    }
    var completed = fields
    completed.append(.vary, "Accept-Encoding")
    return VaryRule(completed)
  }

  /// The request's fields that may select a response, as the origin saw them.
  static func selectionFields(_ fields: Fields, asksIdentity: Bool) -> Fields {
    guard asksIdentity else { return fields }
    var asked = fields
    asked.set(.acceptEncoding, "identity")
    return asked
  }

  /// Whether a request with these fields has the cookies that this response requires.
  func hasCookies(of fields: Fields) -> Bool { isForEverybody || hasImplicitKey(of: fields) }

  static func implicitKey(status: Int, _ fields: Fields, countsCookies: Bool) -> [UInt8] {
    var key = countsCookies ? Array(fields.all(.cookie).joined(separator: [0x3b, 0x20])) : []
    let provocation = RequestFields.errorKey(status: status, fields)
    if !provocation.isEmpty { key += [0] + provocation }
    return key
  }
}
