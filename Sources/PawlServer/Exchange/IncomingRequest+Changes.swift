import PawlCache
import PawlHTTP

/// Copies of a request with changed fields: without fields of the client that pawl ignores, or with changed conditions for the
/// origin. The connection is given the new request before anything else is done with that request
/// (``ResponseChannel/goesOn(as:)``).
extension IncomingRequest {
  var cookies: [Bytes] { allCookies ?? head.fields.all(.cookie) }

  /// Returns the request without cookies that do not change its answer: such cookies are neither in the cache key nor sent to the
  /// origin (`ignore-cookies`, `key-cookies`).
  func withoutCookies() -> IncomingRequest {
    guard head.fields.contains(.cookie), let counted = route.cookies?.counted(in: head.fields) else { return self }
    return changed(counted, allCookies: head.fields.all(.cookie), match: match)
  }

  /// Returns a GET or HEAD without `If-Match`, if pawl can evaluate that field itself (``match``). In a request with `Range`, a
  /// single strong tag names the bytes of which the client holds a part; so the field becomes `If-Range`.
  func takingMatch() -> IncomingRequest {
    var fields = head.fields
    guard head.method.isRetrieval, fields.contains(.ifMatch), !fields.contains(.ifUnmodifiedSince),
      case .tags(let tags)? = EntityTagList(fields.all(.ifMatch)), !tags.isEmpty
    else { return self }
    let isOfPart = head.method == .get && fields.contains(.range) && !fields.contains(.ifRange)
    if isOfPart, tags.count == 1, !tags[0].isWeak {
      fields.set(.ifRange, tags[0].bytes)
    } else if !tags.contains(where: AnswerTags.isMinted) {
      // The origin can evaluate `If-Match` for its own representation.
      return self
    }
    fields.removeAll(.ifMatch)
    return changed(fields, allCookies: allCookies, match: tags)
  }

  /// Returns the request with `If-Match` again, for the origin to evaluate; `nil` if the origin cannot, because a tag is minted.
  func givingMatchBack() -> IncomingRequest? {
    guard let tags = match else { return self }
    guard !tags.contains(where: AnswerTags.isMinted) else { return nil }
    var fields = head.fields
    fields.removeAll(.ifRange)
    fields.set(.ifMatch, Array(tags.map(\.bytes).joined(separator: [0x2c, 0x20])))
    return changed(fields, allCookies: allCookies, match: nil)
  }

  /// Returns the request with these fields in place of its own. Their conditions contain the origin's tags.
  func with(fields: Fields) -> IncomingRequest { changed(fields, allCookies: allCookies, match: match) }

  private func changed(_ fields: Fields, allCookies: [Bytes]?, match: [EntityTag]?) -> IncomingRequest {
    var head = head
    head.fields = fields
    let changed = IncomingRequest(
      head: head, route: route, loop: loop, facts: facts, requestID: requestID, isRouted: isRouted, record: record,
      allCookies: allCookies, match: match)
    (changed.hidesUploadFields, changed.isDelivery, changed.isBelowPrefix) = (
      hidesUploadFields, isDelivery, isBelowPrefix
    )
    (changed.tally, changed.resource, changed.rangeCoding) = (tally, resource, rangeCoding)
    (changed.activeKind, activeKind) = (activeKind, nil)
    return changed
  }
}
