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

/// The stored response, freshened by a 304 (RFC 9111 §3.2): its fields replace those of the same names.
///
/// What describes the bytes that are held stays: their length, coding and range, and the validators they were stored with, so
/// that a tag or date once given out goes on naming the same bytes.
///
/// - Parameters:
///   - requestTime, responseTime: of the validation; wall clock, seconds since 1970.
///   - request: the one that was validated for. With it a changed `Vary` takes effect at once; without it, or where it has
///     become `*`, the stored one stays.
package func mergeNotModified(
  _ stored: StoredHead, _ answer: ResponseHead, requestTime: Int64, responseTime: Int64,
  request: (head: RequestHead, asksIdentity: Bool)? = nil
) -> StoredHead {
  let update = updatingFields(answer.fields, mayVary: request != nil)
  var fields = stored.fields
  // Age and Date are of the moment: the stored ones would make the response as old as it was.
  fields.removeAll { name, spelling, _ in
    name == .age || name == .date || update.contains { $0.name.equalsIgnoringCase(spelling) }
  }
  for line in update { fields.append(named: line.name, line.value) }
  if !fields.contains(.date) { fields.append(.date, HTTPDate.format(responseTime)) }
  var selecting = stored.selecting
  if let request, StoredHead.varyRule(fields) != stored.vary {
    selecting = StoredHead.varyRule(fields).selectingValues(
      in: StoredHead.selectionFields(request.head.fields, asksIdentity: request.asksIdentity))
  }
  return StoredHead(
    status: stored.status, fields: fields, requestTime: requestTime, responseTime: responseTime,
    bytesDate: stored.validators.date, selecting: selecting, implicitKey: stored.implicitKey)
}

private func updatingFields(_ received: Fields, mayVary: Bool) -> [(name: Bytes, value: Bytes)] {
  let fields = StoredHead.storedFields(received)
  let keepsVary = !mayVary || VaryRule(fields).isStar
  return fields.lines.compactMap { line in
    switch line.name {
    case .contentEncoding, .contentRange, .etag, .lastModified: nil
    case .vary where keepsVary: nil
    default: (fields.name(line), fields.value(line))
    }
  }
}
