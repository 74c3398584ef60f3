package import PawlHTTP

/// Whether a 304 is about this stored response (RFC 9111 §4.3.4): its validators, if it has any, agree.
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
  /// The 304 is about another response: it has another strong tag (RFC 9111 §4.3.4) or another `Vary`. Nothing is freshened or
  /// confirmed.
  case unrelated
  /// From now on the stored response has this head, for all clients that may have it.
  case freshens(StoredHead)
  /// The 304 is for this one request, which gets the stored bytes under `own`. The head for the other clients becomes `shared`;
  /// `nil` keeps it.
  case confirms(own: StoredHead, shared: StoredHead?)
}

/// Decides what a 304 may update: what a 200 with the same fields to the same request could (RFC 9111 §3.5, §4.3.4, §5.2.2).
///
/// The response to a request with a cookie or a credential is for one user: unless the 304 itself is for all clients, only its
/// freshness updates the shared head.
///
/// - Parameters:
///   - request: the request that was validated for, as it was sent to the origin.
///   - requestTime, responseTime: of the validation; wall clock, seconds since 1970.
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

/// Whether a 304 has no `Vary`, or the same one; another `Vary` means another selection among the representations of the origin.
private func agreesInVary(_ answer: ResponseHead, _ stored: StoredHead) -> Bool {
  !answer.fields.contains(.vary) || stored.agreesInVary(answer.fields)
}

extension StoredHead {
  /// Whether another response has the same `Vary`, apart from the `Origin` that pawl may have added to the stored one
  /// (``RequestFields/isEchoed(_:in:)``).
  func agreesInVary(_ fields: Fields) -> Bool {
    let own = VaryRule(self.fields)
    if VaryRule(fields) == own { return true }
    var completed = fields
    completed.append(.vary, "Origin")
    return VaryRule(completed) == own
  }
}

/// The stored head, freshened by a 304 (RFC 9111 §3.2): the fields of the 304 replace those of the same names.
///
/// Fields that describe the held bytes stay: length, coding, range, `Vary`, and the validators they were stored with, so that a
/// tag or date that a client has seen keeps naming the same bytes.
///
/// - Parameters:
///   - requestTime, responseTime: of the validation; wall clock, seconds since 1970.
///   - isRenewal: whether the response is no 304 but complete by itself: stored fields about freshness and audience that it
///     does not repeat are removed.
///   - isTaken: which of its fields are taken.
package func mergeNotModified(
  _ stored: StoredHead, _ answer: ResponseHead, requestTime: Int64, responseTime: Int64, isRenewal: Bool = false,
  taking isTaken: (FieldName) -> Bool = { _ in true }
) -> StoredHead {
  let update = updatingFields(answer.fields).filter { isTaken($0.known) }
  var fields = stored.fields
  // Age and Date belong to one response: the stored ones would make this one as old as the former.
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
