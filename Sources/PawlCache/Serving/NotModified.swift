package import PawlHTTP

/// Whether a 304 speaks of this stored response (RFC 9111 §4.3.4): its validators, where it names any, agree.
package func confirms(_ answer: ResponseHead, _ stored: StoredHead) -> Bool {
  let named = Validators(answer.fields, receivedAt: stored.responseTime)
  if let tag = named.tag {
    guard let own = stored.validators.tag else { return false }
    return tag.isWeak ? own.matchesWeakly(tag) : own.matchesStrongly(tag)
  }
  if let date = named.lastModified, let own = stored.validators.lastModified { return date == own }
  return true
}

/// What a 304 means for a stored response and for those who may be given it.
package enum NotModifiedEffect: Equatable, Sendable {
  /// It speaks of something else: another strong tag (RFC 9111 §4.3.4), or another `Vary`. Nothing is freshened, nothing confirmed.
  case unrelated
  /// The stored response has this head from now on, for everybody who may have it.
  case freshens(StoredHead)
  /// It is the answer to this one request, which gets the stored bytes under `own`. The others' head becomes `shared`; `nil`: stays.
  case confirms(own: StoredHead, shared: StoredHead?)
}

/// Decides what a 304 may update: what a 200 with the same fields to the same request could (RFC 9111 §3.5, §4.3.4, §5.2.2).
///
/// A request with a cookie or a credential is answered for one user: unless the 304 itself says that it is for everybody, the shared
/// head takes nothing from it but how long it is fresh.
///
/// - Parameters:
///   - request: the one that was validated for, as it was sent to the origin.
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

/// A 304 without `Vary` says nothing of it; one with another would be another selection among the origin's representations.
private func agreesInVary(_ answer: ResponseHead, _ stored: StoredHead) -> Bool {
  !answer.fields.contains(.vary) || stored.agreesInVary(answer.fields)
}

extension StoredHead {
  /// Whether the fields of another answer have the same `Vary`, but for the `Origin` that pawl has put into the stored one
  /// (``RequestFields``, an echoed origin).
  func agreesInVary(_ fields: Fields) -> Bool {
    let own = VaryRule(self.fields)
    if VaryRule(fields) == own { return true }
    var completed = fields
    completed.append(.vary, "Origin")
    return VaryRule(completed) == own
  }
}

/// The stored response, freshened by a 304 (RFC 9111 §3.2): its fields replace those of the same names.
///
/// What describes the bytes that are held stays: their length, coding and range, what chose them, and the validators they were
/// stored with, so that a tag or date once given out goes on naming the same bytes.
///
/// - Parameters:
///   - requestTime, responseTime: of the validation; wall clock, seconds since 1970.
///   - isRenewal: it is no 304 but speaks for itself: what it does not repeat of how long it is fresh, and for whom, is gone.
///   - isTaken: which of its fields count.
package func mergeNotModified(
  _ stored: StoredHead, _ answer: ResponseHead, requestTime: Int64, responseTime: Int64, isRenewal: Bool = false,
  taking isTaken: (FieldName) -> Bool = { _ in true }
) -> StoredHead {
  let update = updatingFields(answer.fields).filter { isTaken($0.known) }
  var fields = stored.fields
  // Age and Date are of the moment: the stored ones would make the response as old as it was.
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

/// What says how long a response is fresh, and for whom.
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
