package import PawlHTTP

/// Whether a 304 is about this stored response (RFC 9111 §4.3.4). Yes if the 304 has no validators, or if these agree with the
/// stored validators.
package func confirms(_ answer: ResponseHead, _ stored: StoredHead) -> Bool {
  let named = Validators(answer.fields, receivedAt: stored.responseTime)
  if let tag = named.tag {
    guard let own = stored.validators.tag else { return false }
    return tag.isWeak ? own.matchesWeakly(tag) : own.matchesStrongly(tag)
  }
  if let date = named.lastModified, let own = stored.validators.lastModified { return date == own }
  return true
}

/// What a 304 means for a stored response and for the clients that may get it.
package enum NotModifiedEffect: Equatable, Sendable {
  /// The 304 is about another response, because its validators (RFC 9111 §4.3.4) or its `Vary` differ. Nothing is freshened or
  /// confirmed.
  case unrelated
  /// From now on the stored response has this head, for all clients that may have it.
  case freshens(StoredHead)
  /// The 304 is for this one request, which gets the stored bytes with the head `own`. The head for the other clients becomes
  /// `shared`; `nil` keeps it.
  case confirms(own: StoredHead, shared: StoredHead?)
}

/// Decides what a 304 may update. It may update what a 200 with the same fields, sent in response to the same request, could
/// replace (RFC 9111 §3.5, §4.3.4, §5.2.2).
///
/// The response to a request with a cookie or a credential is for one user. So only the freshness of such a 304 updates the
/// shared head, unless the 304 itself is for all clients.
///
/// - Parameters:
///   - request: the request that caused the validation, as it was sent to the origin.
///   - requestTime, responseTime: the times of the request for the validation and of its response; wall clock, seconds since
///     1970.
package func judgeNotModified(
  _ stored: StoredHead, _ answer: ResponseHead, request: RequestHead, policy: CachePolicy, requestTime: Int64,
  responseTime: Int64
) -> NotModifiedEffect {
  guard confirms(answer, stored), agreesInVary(answer, stored) else { return .unrelated }
  func merged(_ isTaken: (FieldName) -> Bool = { _ in true }) -> StoredHead {
    mergeNotModified(stored, answer, requestTime: requestTime, responseTime: responseTime, taking: isTaken)
  }
  func storability(_ fields: Fields) -> Storability {
    Storability.decide(
      request: request, response: ResponseHead(status: stored.status, fields: fields), framing: .chunked,
      policy: policy,
      receivedAt: responseTime)
  }
  let own = merged()
  var whole = own.fields
  for value in answer.fields.all(.setCookie) { whole.append(.setCookie, value) }
  switch storability(whole) {
  case .shared: break
  case .sharedPerCookie where !stored.isForEverybody && stored.hasCookies(of: request.fields): return .freshens(own)
  case .sharedPerCookie, .sharedOnceConfirmed, .privately, .no: return .confirms(own: own, shared: nil)
  }
  guard RequestFields.isPersonal(request.fields), stored.isForEverybody || !stored.hasCookies(of: request.fields),
    storability(answer.fields) != .shared
  else { return .freshens(own) }
  let lifetime = merged { [.date, .age, .expires, .cacheControl, .cdnCacheControl].contains($0) }
  return .confirms(own: own, shared: lifetime)
}

/// Whether a 304 has no `Vary`, or the same `Vary` as the stored response. Another `Vary` means that the origin selects among its
/// representations in another way.
private func agreesInVary(_ answer: ResponseHead, _ stored: StoredHead) -> Bool {
  !answer.fields.contains(.vary) || stored.agreesInVary(answer.fields)
}

extension StoredHead {
  /// Whether another response has the same `Vary`, apart from the `Origin` that pawl may have added to the stored `Vary`
  /// (``RequestFields/isEchoed(_:in:)``).
  func agreesInVary(_ fields: Fields) -> Bool {
    let own = VaryRule(self.fields)
    if VaryRule(fields) == own { return true }
    var completed = fields
    completed.append(.vary, "Origin")
    return VaryRule(completed) == own
  }
}

/// Returns the stored head after an update by a 304 (RFC 9111 §3.2). The fields of the 304 replace stored fields of the same
/// names.
///
/// Fields that describe the held bytes are not replaced: length, coding, range, `Vary` and the validators. So a tag or date that
/// a client has seen keeps naming the same bytes.
///
/// - Parameters:
///   - requestTime, responseTime: the times of the request to the origin and of its response; wall clock, seconds since 1970.
///   - isRenewal: whether stored fields about freshness and audience are removed even where the response does not repeat them. A
///     304 need not repeat them, so the default is `false`.
///   - isTaken: which fields of the response are taken.
package func mergeNotModified(
  _ stored: StoredHead, _ answer: ResponseHead, requestTime: Int64, responseTime: Int64, isRenewal: Bool = false,
  taking isTaken: (FieldName) -> Bool = { _ in true }
) -> StoredHead {
  let update = updatingFields(answer.fields).filter { isTaken($0.known) }
  var fields = stored.fields
  // `Age` and `Date` belong to one response. The stored values would make the new response as old as the stored one.
  fields.removeAll { name, spelling, _ in
    name == .age || name == .date || isRenewal && freshnessFields.contains(name)
      || update.contains { $0.name.equalsIgnoringCase(spelling) }
  }
  for line in update { fields.append(named: line.name, line.value) }
  if !fields.contains(.date) { fields.append(.date, HTTPDate.format(responseTime)) }
  return StoredHead(
    status: stored.status, fields: fields, requestTime: requestTime, responseTime: responseTime,
    bytesDate: stored.validators.date, selecting: stored.selecting, implicitKey: stored.implicitKey)
}

/// The fields about the freshness and the audience of a response.
let freshnessFields = FieldNameSet([.cacheControl, .cdnCacheControl, .expires, .pragma])

private func updatingFields(_ received: Fields) -> [(known: FieldName, name: Bytes, value: Bytes)] {
  let fields = StoredHead.storedFields(received)
  return fields.lines.compactMap { line in
    switch line.name {
    case .contentEncoding, .contentRange, .etag, .lastModified, .vary: nil
    default: (line.name, fields.name(line), fields.value(line))
    }
  }
}
