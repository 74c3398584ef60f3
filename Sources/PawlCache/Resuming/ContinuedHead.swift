package import PawlHTTP

/// What the head of a continuing response means for the stored response.
package enum ContinuedHead: Equatable, Sendable {
  /// The new bytes may be stored for every client that may have the stored response.
  case agrees
  /// Like ``agrees``, but the freshness differs: from now on the stored response has this head.
  case freshens(StoredHead)
  /// The new bytes may not be given to every client that may have the stored response, or the response describes another
  /// representation. The raw value is the word of the event log.
  case narrower(Narrowing)
}

/// Why a continuing response may be given to fewer clients than the first one; the raw value is the word of the event log.
package enum Narrowing: String, CaseIterable, Hashable, Sendable {
  /// The response must not be stored in a shared cache (``Storability``).
  case notStorable = "not-storable"
  /// The response is only for requests with certain cookies, or no longer for all clients.
  case audience
  /// `Vary` differs.
  case vary
  /// `Content-Language` or `Content-Disposition` differ.
  case otherMetadata = "other-metadata"
}

/// Judges a response that continues a stored body by the same rules as a first response. The new response answers another
/// request, and meanwhile the user may have logged in or out (RFC 9111 §3, §3.4).
///
/// A 206 need not repeat the fields of the representation (RFC 9110 §15.3.7): a missing field keeps its stored value. If the 206
/// has any field about freshness, only its own fields about freshness and audience count.
///
/// - Parameters:
///   - request: the request as it was sent to the origin, without range and conditions.
///   - requestTime, responseTime: the times of the request to the origin and of its response; wall clock, seconds since 1970.
package func judgeContinuedHead(
  of stored: StoredHead, by answer: ResponseHead, request: RequestHead, policy: CachePolicy, requestTime: Int64,
  responseTime: Int64
) -> ContinuedHead {
  let isPart = answer.status == 206
  if saysTheSame(answer.fields, stored.fields, isPart: isPart) { return .agrees }
  let fields = isPart ? overlaid(stored.fields, by: answer.fields) : answer.fields
  // A stored response that the origin has to confirm for each client may be extended by a response to any of these clients.
  let isConfirmed = !stored.isForEverybody && stored.isNamedStrongly(by: answer.fields)
  switch Storability.decide(
    request: request, response: ResponseHead(status: stored.status, fields: fields), framing: .chunked, policy: policy,
    receivedAt: responseTime)
  {
  case .no, .privately: return .narrower(.notStorable)
  case .sharedOnceConfirmed where !isConfirmed: return .narrower(.notStorable)
  case .sharedPerCookie where !isConfirmed && (stored.isForEverybody || !stored.hasCookies(of: request.fields)):
    if !hasOnlyExpired(stored, fields) { return .narrower(.audience) }
  case .shared, .sharedPerCookie, .sharedOnceConfirmed: break
  }
  let directives = ResponseDirectives(fields)
  let isForEverybody = directives.meansEverybody(fields, receivedAt: responseTime)
  if stored.isForEverybody, !isForEverybody, !hasOnlyExpired(stored, fields) { return .narrower(.audience) }
  guard stored.agreesInVary(fields) else { return .narrower(.vary) }
  for name in [FieldName.contentLanguage, .contentDisposition]
  where fields.combined(name) != stored.fields.combined(name) {
    return .narrower(.otherMetadata)
  }
  guard
    directives.cacheControl != stored.cacheControl || directives.isTargeted != stored.isTargeted
      || fields.combined(.expires) != stored.fields.combined(.expires)
  else { return .agrees }
  // The earlier bytes were sent for some clients only. A later response does not make them available to all clients.
  if isForEverybody, !stored.isForEverybody { return .agrees }
  let isRenewal = !isPart || answer.fields.lines.contains { freshnessFields.contains($0.name) }
  return .freshens(
    mergeNotModified(
      stored, answer, requestTime: requestTime, responseTime: responseTime, isRenewal: isRenewal))
}

/// The fields that decide which clients may have a response, and for how long.
private let decisive: [FieldName] = [
  .cacheControl, .cdnCacheControl, .expires, .pragma, .vary, .contentLanguage, .contentDisposition,
]

private let spoken = FieldNameSet(decisive + [.setCookie])

/// Whether none of the `decisive` fields differs from the first response, which was judged already. This is the usual case.
private func saysTheSame(_ answer: Fields, _ stored: Fields, isPart: Bool) -> Bool {
  if isPart, !answer.mayContain(anyOf: spoken) { return true }
  guard !answer.contains(.setCookie) else { return false }
  let speaksOfFreshness = decisive.contains { freshnessFields.contains($0) && answer.contains($0) }
  for name in decisive {
    let count = answer.count(of: name)
    if isPart, count == 0, !(speaksOfFreshness && freshnessFields.contains(name)) { continue }
    guard count == stored.count(of: name), count <= 1, answer.first(name) == stored.first(name) else { return false }
  }
  return true
}

/// Whether the directives and the date of expiry are the same. If so, the response is for fewer clients than the stored one, but
/// the only reason is that it has expired.
private func hasOnlyExpired(_ stored: StoredHead, _ fields: Fields) -> Bool {
  let directives = ResponseDirectives(fields)
  guard let expires = stored.fields.only(.expires) else { return false }
  return directives.cacheControl == stored.cacheControl && fields.only(.expires) == expires
}

private func overlaid(_ stored: Fields, by answer: Fields) -> Fields {
  var fields = stored
  let update = answer.lines.filter { ![.contentRange, .contentLength, .contentType].contains($0.name) }
  let isRenewal = update.contains { freshnessFields.contains($0.name) }
  fields.removeAll { name, spelling, _ in
    isRenewal && freshnessFields.contains(name) || update.contains { answer.name($0).equalsIgnoringCase(spelling) }
  }
  for line in update { fields.append(named: answer.name(line), answer.value(line)) }
  return fields
}

extension StoredHead {
  /// Whether the missing bytes of this response may be fetched with this request. Yes if a response to the request, with the
  /// stored fields, could be stored for the same clients.
  package func mayGrow(by request: RequestHead, policy: CachePolicy) -> Bool {
    if Self.isPlain(request.fields) { return true }
    let response = ResponseHead(status: status, fields: fields)
    switch Storability.decide(
      request: request, response: response, framing: .chunked, policy: policy, receivedAt: responseTime)
    {
    case .shared: return true
    case .sharedPerCookie, .sharedOnceConfirmed: return !isForEverybody && hasCookies(of: request.fields)
    case .privately, .no: return false
    }
  }

  /// Whether a request has nothing personal, so that its response may extend any stored response.
  package static func isPlain(_ fields: Fields) -> Bool {
    !RequestFields.isPersonal(fields) && !RequestFields.hasOverride(fields) && !fields.contains(.cacheControl)
  }
}
