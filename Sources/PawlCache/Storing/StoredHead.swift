package import PawlHTTP

/// What is kept of a response besides its bytes. Immutable: a 304 makes a new one
/// (``mergeNotModified(_:_:requestTime:responseTime:request:)``). Times are wall clock, seconds since 1970.
package struct StoredHead: Equatable, Sendable {
  package let status: Int
  /// Without hop-by-hop fields, `Set-Cookie` and `Content-Length`; as the origin sent them otherwise (RFC 9111 §3.1).
  package let fields: Fields
  /// When the request was sent, and when the head of the answer had arrived.
  package let requestTime: Int64, responseTime: Int64
  /// The request fields that chose this response; `Accept-Encoding` is added for a coded one that does not name it.
  package let vary: VaryRule
  /// Their values, normalised.
  package let selecting: [UInt8]
  /// Their date is that of the answer that brought the bytes, however often a 304 freshened it since: only that one tells
  /// whether `Last-Modified` names one byte sequence (RFC 9110 §8.8.2.2).
  package let validators: Validators
  /// The one that decides, targeted or plain.
  package let cacheControl: CacheControl
  /// `CDN-Cache-Control` decides; `Expires` does not count.
  package let isTargeted: Bool
  /// The response says so, by `public` or by an explicit time for which it is fresh: cookies of a request do not matter.
  package let isForEverybody: Bool
  /// Whether ranges of it are given. What is itself many parts is given whole: a client takes a 206 of that type for
  /// pawl's own parts (RFC 9110 §15.3.7.2).
  package let givesParts: Bool
  /// How long the origin said it is fresh, in seconds; `nil` when it did not say, or in fields that do not count.
  let explicitLifetime: Int64?
  /// `Date` of the newest answer, seconds since 1970.
  let date: Int64?
  /// How old it was when it came, in seconds (RFC 9111 §4.2.3, corrected initial age).
  let initialAge: Int64
  /// What a request must have in common with the one that was answered, beside URL and `Vary`: the `Cookie` bytes, for a response
  /// that does not say it is for everybody; for one that is no success what may have provoked it
  /// (``RequestFields/errorKey(status:_:)``). Empty where there was none of that.
  package let implicitKey: [UInt8]
  /// Whether it is given to nobody to whom the origin has not confirmed it (``Storability/sharedOnceConfirmed``).
  package var isOnceConfirmed: Bool { implicitKey == Self.onceConfirmed }
  /// The cookies of the request that was answered, as far as they count.
  package var keyCookies: Bytes { isOnceConfirmed ? [] : implicitKey.prefix { $0 != 0 } }
  /// Of such a one in place of the key: no request has it.
  private static let onceConfirmed: [UInt8] = [1]

  /// - Parameters:
  ///   - request: as the client sent it.
  ///   - asSent: its fields as the origin got them; `nil`: as they are.
  ///   - storability: ``Storability/sharedPerCookie`` binds the response to the request's cookies.
  ///   - asksIdentity: whether the origin was asked for identity whatever the client accepts.
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

  /// Everything that can be read off the fields is.
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

  /// Whether this response was chosen by request fields that the given request has too (RFC 9111 §4.1), and by the same implicit
  /// key.
  /// - Parameters:
  ///   - request: as the client sent it.
  ///   - asSent: its fields as the origin gets them: those are what `Vary` speaks of, for pawl sets some of them itself and takes
  ///     others away. Asked for only where `Vary` names one.
  package func isSelected(by request: RequestHead, asksIdentity: Bool, asSent: () -> Fields) -> Bool {
    guard !vary.isStar, hasImplicitKey(of: request.fields) else { return false }
    guard !vary.names.isEmpty else { return true }
    if asksIdentity, vary.names.count == 1, FieldName(vary.names[0]) == .acceptEncoding {
      return vary.selectingValues(in: Self.identityOnly) == selecting
    }
    return vary.selectingValues(in: Self.selectionFields(asSent(), asksIdentity: asksIdentity)) == selecting
  }

  /// Whether the fields of another answer name these bytes: one strong tag is of one sequence of them (RFC 9110 §8.8.3.2).
  func isNamedStrongly(by fields: Fields) -> Bool {
    guard let own = validators.tag else { return false }
    return fields.only(.etag).flatMap(EntityTag.init).map(own.matchesStrongly) ?? false
  }

  /// Whether `newer`, which came while this one was on its way, is of a later date (RFC 9111 §4).
  package func isOvertaken(by newer: StoredHead) -> Bool {
    guard let date, let later = newer.date else { return false }
    return date < later && requestTime <= newer.responseTime
  }

  /// Whether its own fields say that it may be used for a while: neither a guess nor a setting.
  package var givesLifetime: Bool { explicitLifetime ?? 0 > 0 }

  /// Whether the origin says nothing of how it may be reused (`collapse = always`).
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

  /// What of a response may be stored and given to others.
  static func storedFields(_ received: Fields) -> Fields {
    var fields = received
    HopByHop.strip(&fields)
    // The length is that of the stored bytes; cookies are one client's.
    fields.removeAll { name, _, _ in name == .contentLength || name == .setCookie }
    return fields
  }

  /// The response's `Vary`, and `Accept-Encoding` for a coded response, which was surely chosen by it.
  static func varyRule(_ fields: Fields) -> VaryRule {
    guard let coding = fields.combined(.contentEncoding), !coding.isEmpty, !coding.equalsIgnoringCase("identity") else {
      return VaryRule(fields)
    }
    var completed = fields
    completed.append(.vary, "Accept-Encoding")
    return VaryRule(completed)
  }

  /// The request's fields as the origin saw them, as far as they can choose a response.
  static func selectionFields(_ fields: Fields, asksIdentity: Bool) -> Fields {
    guard asksIdentity else { return fields }
    var asked = fields
    asked.set(.acceptEncoding, "identity")
    return asked
  }

  /// Whether requests with these cookies have the implicit key of this response, as far as cookies make it.
  func hasCookies(of fields: Fields) -> Bool { isForEverybody || hasImplicitKey(of: fields) }

  static func implicitKey(status: Int, _ fields: Fields, countsCookies: Bool) -> [UInt8] {
    var key = countsCookies ? Array(fields.all(.cookie).joined(separator: [0x3b, 0x20])) : []
    let provocation = RequestFields.errorKey(status: status, fields)
    if !provocation.isEmpty { key += [0] + provocation }
    return key
  }
}
