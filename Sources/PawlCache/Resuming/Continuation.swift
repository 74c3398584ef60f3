package import PawlHTTP

/// What an origin's answer to a resumption is good for.
package enum Continuation: Hashable, Sendable {
  /// A 206 that continues the same bytes: the first of them belongs at `from`. Compare the overlap, append the rest. It may end
  /// before what is missing does (``RepresentationIdentity/rangeEnd(of:)``); then it is asked again.
  case append(from: UInt64)
  /// A 200 whose identity agrees: compare from zero with what is held, append the rest. One that differs, or that is complete
  /// before what is held ends, is another body.
  case replay
  /// The origin has other bytes now, or none: nothing of them may be joined to what is held.
  case changed(ContentChange)
  /// Nothing is known: back off, then decide again.
  case tryAgain
  /// The rest cannot be had by range: decide again with ``ResumeProgress/originRefusesRanges`` set.
  case rangesRefused
  /// Everything was held already.
  case complete
}

/// What an answer differs in; the raw value is the word of the event log.
package enum ContentChange: String, CaseIterable, Hashable, Sendable {
  case otherTag = "other-tag"
  case otherDate = "other-date"
  case otherLength = "other-length"
  case otherEncoding = "other-encoding"
  case otherType = "other-type"
  /// 404, 410.
  case gone
  /// 401, 403.
  case forbidden
  case redirected
  /// Any other 4xx.
  case refused
  /// A success that is no 200 or 206.
  case otherStatus = "other-status"
  /// No request was made: the transfer was given up.
  case nothingAsked = "nothing-asked"

  /// Whether it may be about who asks, and not about the content.
  package var isAboutAsker: Bool { [.forbidden, .redirected, .refused].contains(self) }
}

/// Judges the answer to what ``decideResume(held:spanStart:prefix:identity:progress:)`` asked for. Bytes of two
/// representations never meet: only what is proven the same is appended or compared.
///
/// - Parameters:
///   - asked: what the request was.
///   - framing: of the answer (RFC 9112 §6.3).
///   - canReplay: false for a span that begins in the middle with bytes below it missing. A 200 that agrees, from an origin
///     that ignored the range, is then of no use and counts as ``Continuation/rangesRefused``.
///   - isOtherNode: it comes from another URL of the upstream, which may have validators of its own for the same bytes: what is whole
///     is compared whatever they are.
package func judgeContinuation(
  asked: ResumeDecision, identity: RepresentationIdentity, answer: ResponseHead, framing: BodyFraming,
  canReplay: Bool = true, isOtherNode: Bool = false
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
    return verdict == .replay && !canReplay ? .rangesRefused : verdict
  case 206:
    // Nobody asked for a part: row 72 of protocols.md 8.2.
    guard let wanted else { return .tryAgain }
    return isContinuation(identity, from: wanted.from, answer, framing) ? .append(from: wanted.from) : .rangesRefused
  case 304, 412:
    // A plain request bears no condition: the origin is confused, not changed.
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
  /// Where the bytes of a 206 end, exclusively; `nil` when it does not say.
  package static func rangeEnd(of answer: ResponseHead) -> UInt64? { contentRange(answer.fields)?.range.end }
}

/// Whether a 206 goes on exactly at `from` with the same bytes (RFC 9110 §14.4, §15.3.7.3; RFC 9111 §3.4).
private func isContinuation(
  _ identity: RepresentationIdentity, from: UInt64, _ answer: ResponseHead, _ framing: BodyFraming
) -> Bool {
  // `multipart/byteranges` has no `Content-Range` of its own; one that has both is not believed.
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
    // With a date goes at most a weak tag; one on one side only, or another one, says that the origin is not the same.
    let tagsAgree = identity.tag.map { tag in claimed.tag.map(tag.matchesWeakly) ?? false } ?? (claimed.tag == nil)
    return claimed.lastModified == date && tagsAgree
  case nil: return false
  }
}

/// Whether a 200 is the whole of the same representation, as far as its head tells.
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

/// Whether a 416 says that nothing was missing. Where the length was not known, only an answer that names the same
/// strong tag is believed: a body of other content may happen to be as long.
private func everythingIsHeld(_ identity: RepresentationIdentity, held: UInt64, _ answer: ResponseHead) -> Bool {
  guard let value = answer.fields.only(.contentRange), case .unsatisfied(let total?)? = ContentRange.parse(value),
    total == held
  else { return false }
  if let known = identity.total { return known == held }
  guard let tag = identity.tag, let other = answer.fields.only(.etag).flatMap({ EntityTag($0) }) else { return false }
  return tag.matchesStrongly(other)
}
