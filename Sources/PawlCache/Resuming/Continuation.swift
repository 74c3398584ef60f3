package import PawlHTTP

/// What may be done with the response to a resumption request.
package enum Continuation: Hashable, Sendable {
  /// A 206 that continues the same bytes; its first byte belongs at `from`. The overlap is compared, the rest appended. The 206
  /// may end before all missing bytes have come (``RepresentationIdentity/rangeEnd(of:)``); then the rest is requested again.
  case append(from: UInt64)
  /// A 200 with the same identity. Its content is compared with the held bytes from byte zero on, and the rest is appended. If a
  /// byte differs, or the content ends before the held bytes do, it is another body.
  case replay
  /// The origin has different bytes now, or none. No byte of the response may be joined to the held bytes.
  case changed(ContentChange)
  /// The response says nothing about the bytes. The caller waits, then decides again.
  case tryAgain
  /// The rest cannot be fetched by range. The caller sets ``ResumeProgress/originRefusesRanges`` and decides again.
  case rangesRefused
  /// All bytes were held already.
  case complete
}

/// How a response differs from the identity of the body that it should continue; the raw value is the word in the event log.
package enum ContentChange: String, CaseIterable, Hashable, Sendable {
  case otherTag = "other-tag"
  case otherDate = "other-date"
  case otherLength = "other-length"
  case otherEncoding = "other-encoding"
  case otherType = "other-type"
  /// Nothing proves that it is the same content as bytes which are held behind it.
  case unproven
  /// 404, 410.
  case gone
  /// 401, 403.
  case forbidden
  case redirected
  /// Any other 4xx.
  case refused
  /// A status that no other case names: mostly a 2xx other than 200 and 206.
  case otherStatus = "other-status"
  /// No request was sent: the transfer was given up.
  case nothingAsked = "nothing-asked"

  /// Whether the status may depend on the client of the request instead of the content.
  package var isAboutAsker: Bool { [.forbidden, .redirected, .refused].contains(self) }
}

/// Judges the response to the request of ``decideResume(held:spanStart:prefix:identity:progress:)``. Bytes of two representations
/// are never joined: only bytes that are proven to continue the held bytes are appended.
///
/// - Parameters:
///   - asked: the decision by which the request was made.
///   - answer: the head of the response.
///   - framing: of the response (RFC 9112 §6.3).
///   - canReplay: `false` for a span that begins in the middle of the representation while earlier bytes are missing. A 200 from
///     an origin that ignored the range cannot be used then, and counts as ``Continuation/rangesRefused``.
///   - isOtherNode: whether the response comes from another URL of the upstream, which may have its own validators for the same
///     bytes. A 200 is then compared byte by byte, whatever its validators are.
///   - joinsLater: whether bytes behind the wanted ones are held. A replay would be joined to them without a comparison, so the
///     response has to have the strong validator of the content.
package func judgeContinuation(
  asked: ResumeDecision, identity: RepresentationIdentity, answer: ResponseHead, framing: BodyFraming,
  canReplay: Bool = true, isOtherNode: Bool = false, joinsLater: Bool = false
) -> Continuation {
  let wanted: (from: UInt64, held: UInt64)?
  switch asked {
  case .askForRest(let from, let overlap, _): wanted = (from, from + overlap)
  case .replay: wanted = nil
  case .giveUp: return .changed(.nothingAsked)
  }
  switch answer.status {
  case 200:
    let verdict = judgeWhole(identity, answer, framing, comparesValidators: !isOtherNode)
    // The replay compares what is held before its end, and not what is held behind it.
    if verdict == .replay, joinsLater, isOtherNode || !identity.isNamedStrongly(by: answer) {
      return .changed(.unproven)
    }
    return verdict == .replay && !canReplay ? .rangesRefused : verdict
  case 206:
    // The plain request had no `Range`, so a 206 to it is not used (Hygiene, "206 unasked").
    guard let wanted else { return .tryAgain }
    return isContinuation(identity, from: wanted.from, answer, framing) ? .append(from: wanted.from) : .rangesRefused
  case 304, 412:
    // A plain request has no condition, so such a status does not prove that the representation has changed.
    return wanted == nil ? .tryAgain : .rangesRefused
  case 416:
    guard let wanted else { return .changed(.refused) }
    return everythingIsHeld(identity, held: wanted.held, answer) ? .complete : .rangesRefused
  case 408, 429, 500...599: return .tryAgain
  case 404, 410: return .changed(.gone)
  case 401, 403: return .changed(.forbidden)
  case 300...399: return .changed(.redirected)
  case 400...499: return .changed(.refused)
  default: return .changed(.otherStatus)
  }
}

extension RepresentationIdentity {
  /// The offset after the last byte of a 206; `nil` when the response does not give its range.
  package static func rangeEnd(of answer: ResponseHead) -> UInt64? { contentRange(answer.fields)?.range.end }
  /// The offset of the first byte of a 206; `nil` when the response does not give its range.
  package static func rangeStart(of answer: ResponseHead) -> UInt64? { contentRange(answer.fields)?.range.first }

  /// Whether a response has the strong validator of this representation.
  package func isNamedStrongly(by answer: ResponseHead) -> Bool {
    let claimed = RepresentationIdentity(head: answer, framing: .none, receivedAt: 0)
    return switch strongValidator {
    case .tag(let tag)?: claimed.tag?.matchesStrongly(tag) ?? false
    case .date(let date, _)?: claimed.lastModified == date
    case nil: false
    }
  }
}

/// Whether a 206 continues the same bytes exactly at `from` (RFC 9110 §14.4, §15.3.7.3; RFC 9111 §3.4).
private func isContinuation(
  _ identity: RepresentationIdentity, from: UInt64, _ answer: ResponseHead, _ framing: BodyFraming
) -> Bool {
  // `multipart/byteranges` has no `Content-Range` in its head; a response that has both is not trusted.
  let isMultipart = answer.fields.first(.contentType)?.trimmed.prefix(10).equalsIgnoringCase("multipart/") ?? false
  guard !isMultipart,
    let part = RepresentationIdentity.contentRange(answer.fields), part.range.first == from,
    let total = part.total, total == identity.total ?? total
  else { return false }
  if case .length(let length) = framing, length != part.range.count { return false }
  let claimed = RepresentationIdentity(head: answer, framing: framing, receivedAt: 0)
  guard claimed.contentEncoding == identity.contentEncoding else { return false }
  switch identity.strongValidator {
  case .tag(let tag)?: return claimed.tag?.matchesStrongly(tag) == true
  case .date(let date, _)?:
    // The strong validator is a date, so the stored tag is weak or absent. A different tag, or a tag in only one of the two
    // responses, means that the representation has changed.
    let tagsAgree = identity.tag.map { tag in claimed.tag.map(tag.matchesWeakly) ?? false } ?? (claimed.tag == nil)
    return claimed.lastModified == date && tagsAgree
  case nil: return false
  }
}

/// Whether a 200 may be the same representation, judged by its head.
private func judgeWhole(
  _ identity: RepresentationIdentity, _ answer: ResponseHead, _ framing: BodyFraming, comparesValidators: Bool
) -> Continuation {
  let claimed = RepresentationIdentity(head: answer, framing: framing, receivedAt: 0)
  if let total = identity.total, let other = claimed.total, total != other { return .changed(.otherLength) }
  if claimed.contentEncoding != identity.contentEncoding { return .changed(.otherEncoding) }
  if comparesValidators, let tag = identity.tag, let other = claimed.tag {
    if !tag.matchesWeakly(other) { return .changed(.otherTag) }
    if tag.matchesStrongly(other) { return .replay }
  }
  if comparesValidators, let date = identity.lastModified, let other = claimed.lastModified, date != other {
    return .changed(.otherDate)
  }
  if claimed.contentType != identity.contentType { return .changed(.otherType) }
  return .replay
}

/// Whether a 416 means that no byte was missing. Where the length was unknown, the 416 must also have the same strong tag,
/// because a different body may have the same length.
private func everythingIsHeld(_ identity: RepresentationIdentity, held: UInt64, _ answer: ResponseHead) -> Bool {
  guard let value = answer.fields.only(.contentRange), case .unsatisfied(let total?)? = ContentRange.parse(value),
    total == held
  else { return false }
  if let known = identity.total { return known == held }
  guard let tag = identity.tag, let other = answer.fields.only(.etag).flatMap({ EntityTag($0) }) else { return false }
  return tag.matchesStrongly(other)
}
