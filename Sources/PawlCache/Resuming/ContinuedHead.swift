package import PawlHTTP

/// What the head of an answer that continues a stored body means for the stored response.
package enum ContinuedHead: Equatable, Sendable {
  /// It may be kept for all who may have what is stored.
  case agrees
  /// So it may, and it says something else of how long that is fresh: the stored response has this head from now on.
  case freshens(StoredHead)
  /// It may not be given to all who may have what is stored, or it describes another representation: the raw value is the word of
  /// the event log.
  case narrower(Narrowing)
}

/// In what an answer that continues a body is narrower than the one that began it; the raw value is the word of the event log.
package enum Narrowing: String, CaseIterable, Hashable, Sendable {
  /// Shared caches may not keep it (``Storability``).
  case notStorable = "not-storable"
  /// It is for requests with these cookies, or not for everybody any more.
  case audience
  /// `Vary` differs.
  case vary
  /// `Content-Language` or `Content-Disposition` differ.
  case otherMetadata = "other-metadata"
}

/// Judges the answer that goes on with a stored body as if it had been the first: it was asked for by another request, perhaps
/// answered for another state of a session (RFC 9111 §3, §3.4).
///
/// A 206 need not repeat the fields of the representation (RFC 9110 §15.3.7): what it leaves out is as it was. Where it says anything of
/// how long it is fresh, and for whom, that alone counts.
///
/// - Parameters:
///   - request: as it was sent to the origin, but for range and conditions.
///   - requestTime, responseTime: of the answer; wall clock, seconds since 1970.
package func judgeContinuedHead(
  of stored: StoredHead, by answer: ResponseHead, request: RequestHead, policy: CachePolicy, requestTime: Int64,
  responseTime: Int64
) -> ContinuedHead {
  let isPart = answer.status == 206
  if saysTheSame(answer.fields, stored.fields, isPart: isPart) { return .agrees }
  let fields = isPart ? overlaid(stored.fields, by: answer.fields) : answer.fields
  // What is for those to whom the origin confirms it may grow by what any of them is told.
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
  // What came before was answered for some: nothing that comes later gives it to others.
  if isForEverybody, !stored.isForEverybody { return .agrees }
  let isRenewal = !isPart || answer.fields.lines.contains { freshnessFields.contains($0.name) }
  return .freshens(
    mergeNotModified(
      stored, answer, requestTime: requestTime, responseTime: responseTime, isRenewal: isRenewal))
}

/// What decides who may have a response, and for how long.
private let decisive: [FieldName] = [
  .cacheControl, .cdnCacheControl, .expires, .pragma, .vary, .contentLanguage, .contentDisposition,
]

private let spoken = FieldNameSet(decisive + [.setCookie])

/// Whether nothing of that differs from what the first answer to a request said that was judged already: the usual case.
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

/// The same date of expiry and the same directives: it means fewer only because time has passed.
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
  /// Whether the origin may be asked for more of this response by a request with these fields: its answer, if it is like the one that
  /// is stored, may be kept with it.
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

  /// Whether nothing in a request makes it anybody's own: what is stored may grow by its answer, whatever is stored.
  package static func isPlain(_ fields: Fields) -> Bool {
    !RequestFields.isPersonal(fields) && !RequestFields.hasOverride(fields) && !fields.contains(.cacheControl)
  }
}
