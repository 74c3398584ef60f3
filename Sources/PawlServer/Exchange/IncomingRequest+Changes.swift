import PawlCache
import PawlHTTP

/// A request as it goes on where not all that its client sent counts, or the origin is to hear it in other words. Its connection is told of
/// the new one (``ResponseChannel/goesOn(as:)``): before anything else is done with it.
extension IncomingRequest {
  var cookies: [Bytes] { allCookies ?? head.fields.all(.cookie) }

  /// Without the cookies that have nothing to do with its answer: neither a key nor the origin sees them (`ignore-cookies`,
  /// `key-cookies`).
  func withoutCookies() -> IncomingRequest {
    guard head.fields.contains(.cookie), let counted = route.cookies?.counted(in: head.fields) else { return self }
    return changed(counted, allCookies: head.fields.all(.cookie), match: match)
  }

  /// With `If-Match` taken out of a GET or HEAD, as far as pawl can judge it (``match``). Beside a range it names what the client holds a
  /// part of, as `If-Range` would.
  func takingMatch() -> IncomingRequest {
    var fields = head.fields
    guard head.method.isRetrieval, fields.contains(.ifMatch), !fields.contains(.ifUnmodifiedSince),
      case .tags(let tags)? = EntityTagList(fields.all(.ifMatch)), !tags.isEmpty
    else { return self }
    let isOfPart = head.method == .get && fields.contains(.range) && !fields.contains(.ifRange)
    if isOfPart, tags.count == 1, !tags[0].isWeak {
      fields.set(.ifRange, tags[0].bytes)
    } else if !tags.contains(where: AnswerTags.isMinted) {
      // The origin can judge it, of what it has itself.
      return self
    }
    fields.removeAll(.ifMatch)
    return changed(fields, allCookies: allCookies, match: tags)
  }

  /// With `If-Match` for the origin to judge after all; `nil` where it can not.
  func givingMatchBack() -> IncomingRequest? {
    guard let tags = match else { return self }
    guard !tags.contains(where: AnswerTags.isMinted) else { return nil }
    var fields = head.fields
    fields.removeAll(.ifRange)
    fields.set(.ifMatch, Array(tags.map(\.bytes).joined(separator: [0x2c, 0x20])))
    return changed(fields, allCookies: allCookies, match: nil)
  }

  /// With other fields, as the origin knows the conditions.
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
    return changed
  }
}
