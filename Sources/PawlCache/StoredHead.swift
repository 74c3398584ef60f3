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
  /// How long the origin said it is fresh, in seconds; `nil` when it did not say, or in fields that do not count.
  let explicitLifetime: Int64?
  /// `Date` of the newest answer, seconds since 1970.
  let date: Int64?
  /// How old it was when it came, in seconds (RFC 9111 §4.2.3, corrected initial age).
  let initialAge: Int64
  /// The `Cookie` octets of the request, for a response that does not say it is for everybody: only requests with the
  /// same cookies are given it. Empty where there were none, or where it is for everybody.
  package let implicitKey: [UInt8]

  /// - Parameters:
  ///   - storability: ``Storability/sharedPerCookie`` binds the response to the request's cookies.
  ///   - asksIdentity: whether the origin was asked for identity whatever the client accepts.
  package init(
    request: RequestHead, response: ResponseHead, requestTime: Int64, responseTime: Int64,
    storability: Storability = .shared, asksIdentity: Bool
  ) {
    let fields = Self.storedFields(response.fields)
    let cookies = storability == .sharedPerCookie ? Self.cookieKey(request.fields) : []
    let selecting = Self.varyRule(fields).selectingValues(
      in: Self.selectionFields(request.fields, asksIdentity: asksIdentity))
    self.init(
      status: response.status, fields: fields, requestTime: requestTime, responseTime: responseTime,
      bytesDate: Validators(fields, receivedAt: responseTime).date, selecting: selecting, implicitKey: cookies)
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
    isForEverybody = directives.meansEverybody(fields, receivedAt: responseTime)
    explicitLifetime = directives.explicitLifetime(fields, receivedAt: responseTime)
    initialAge = Freshness.initialAge(
      fields, date: date, requestTime: requestTime, responseTime: responseTime)
    self.implicitKey = implicitKey
  }

  /// Whether this response was chosen by request fields that the given request has too (RFC 9111 §4.1), and, for a response
  /// that is not meant for everybody, by the same cookies.
  package func isSelected(by request: RequestHead, asksIdentity: Bool) -> Bool {
    guard !vary.isStar else { return false }
    if !isForEverybody, !implicitKey.isEmpty || request.fields.contains(.cookie),
      implicitKey != Self.cookieKey(request.fields)
    {
      return false
    }
    guard !vary.names.isEmpty else { return true }
    let isCopyNeeded = asksIdentity && vary.names.contains { FieldName($0) == .acceptEncoding }
    return vary.selectingValues(in: Self.selectionFields(request.fields, asksIdentity: isCopyNeeded)) == selecting
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

  private static func cookieKey(_ fields: Fields) -> [UInt8] {
    Array(fields.all(.cookie).joined(separator: [0x3b, 0x20]))
  }
}
