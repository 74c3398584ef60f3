import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// The entity tags that pawl puts into responses: the origin's tag if it is strong, otherwise a minted tag of 128 random bits.
enum AnswerTags {
  /// The prefix of minted tags. By this prefix pawl recognises all minted tags, even those of which it has no record any more.
  /// It never sends a minted tag to an origin.
  static let prefix = TagRecord.ownPrefix

  static func mint() -> [UInt8] {
    Array("pawl-".utf8) + Randomness.bytes(16).hexadecimal
  }

  static func isMinted(_ tag: EntityTag) -> Bool { tag.opaque[...].hasPrefix(prefix) }

  /// Returns the opaque part of the tag that names this body from now on.
  ///
  /// It is the origin's strong tag, or a minted tag if the origin sent none. An origin must not use one strong tag for two content
  /// codings (RFC 9110 §8.8.3.3). If a stored body of another coding has the same tag, a new tag is minted, so that a part of one
  /// body can never be taken for a part of the other.
  /// - Parameter others: what is stored under the same key.
  static func name(for head: ResponseHead, beside others: @autoclosure () -> [StoredResponse]) -> [UInt8] {
    guard let tag = head.fields.only(.etag).flatMap(EntityTag.init), !tag.isWeak, head.status != 304 else {
      return mint()
    }
    let coding = RepresentationIdentity.codings(head.fields)
    let isTaken = others().contains { other in
      // `nil`, although the head of `other` has this tag: its body got a minted tag, because the origin had used this tag for
      // another body before. No further body gets such a tag.
      other.body.tagLimit(tag.opaque) == nil
        ? other.head.validators.tag?.matchesStrongly(tag) ?? false : other.head.coding != coding
    }
    return isTaken ? mint() : tag.opaque
  }

  /// Whether pawl sets `ETag` to the body's tag: always with `etag = auto`; otherwise only if the origin's strong tag is the
  /// body's first tag. If not, the origin's `ETag` field stays as it is.
  static func areShown(of stored: StoredResponse, _ route: RouteSettings) -> Bool {
    if route.etag == .auto { return true }
    guard let tag = stored.head.validators.tag, !tag.isWeak else { return false }
    return tag.opaque == stored.body.firstTag
  }

  /// Sets `Accept-Ranges`, and `ETag` if the body's tag is shown.
  static func put(into fields: inout Fields, _ tag: EntityTag, of stored: StoredResponse, _ route: RouteSettings) {
    if areShown(of: stored, route) { fields.set(.etag, tag.bytes) }
    fields.set(.acceptRanges, stored.head.givesParts ? "bytes" : "none")
  }

  /// Returns the conditions of a revalidation: the validators of the stored response, and the origin's other tags that are
  /// proven to name the same bytes. There may be several, because nodes may give different tags to the same bytes.
  static func conditions(of stored: StoredResponse) -> [(FieldName, [UInt8])] {
    var conditions = stored.head.conditions
    guard let own = stored.head.validators.tag, !own.isWeak,
      let place = conditions.firstIndex(where: { $0.0 == .ifNoneMatch })
    else { return conditions }
    let others = stored.body.tags.filter { $0.limit == .max && !TagRecord.isOwn($0.tag) && $0.tag != own.opaque }
    for record in others.prefix(Offer.limit) {
      conditions[place].1 += [0x2c, 0x20] + EntityTag(strong: record.tag).bytes
    }
    return conditions
  }

  /// Returns a 304 with the stored tag in place of another tag that is proven to name the same bytes.
  static func inStoredWords(_ answer: ResponseHead, of stored: StoredResponse) -> ResponseHead {
    guard let own = stored.head.validators.tag, !own.isWeak,
      let named = answer.fields.only(.etag).flatMap(EntityTag.init), !named.isWeak, named.opaque != own.opaque,
      !isMinted(named), stored.body.tagLimit(named.opaque) == .max
    else { return answer }
    var answer = answer
    answer.fields.set(.etag, own.bytes)
    return answer
  }

  /// Returns a random boundary for multipart/byteranges.
  static func boundary() -> [UInt8] { Array(mint().dropFirst(5)) }
}
