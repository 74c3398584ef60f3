import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// The entity tags pawl gives (architecture, "Entity tags"): the origin's where it is strong, else 128 random bits.
enum AnswerTags {
  /// Marks a minted tag, so that one that is no longer known is never sent to an origin.
  static let prefix = TagRecord.ownPrefix

  static func mint() -> [UInt8] {
    Array("pawl-".utf8) + Randomness.bytes(16).hexadecimal
  }

  static func isMinted(_ tag: EntityTag) -> Bool { tag.opaque[...].hasPrefix(prefix) }

  /// The opaque part of the tag that names this body from now on: the origin's strong one, but where that names a body of
  /// another content coding too, which an origin must not do (RFC 9110 §8.8.3.3). Then a part of the one can never be
  /// taken for a part of the other.
  /// - Parameter others: what is stored for the same address.
  static func name(for head: ResponseHead, beside others: @autoclosure () -> [StoredResponse]) -> [UInt8] {
    guard let tag = head.fields.only(.etag).flatMap(EntityTag.init), !tag.isWeak, head.status != 304 else {
      return mint()
    }
    let coding = RepresentationIdentity.codings(head.fields)
    let isTaken = others().contains { other in
      // Found to be over two before: it names one of them, and is not given back.
      other.body.tagLimit(tag.opaque) == nil
        ? other.head.validators.tag?.matchesStrongly(tag) ?? false : other.head.coding != coding
    }
    return isTaken ? mint() : tag.opaque
  }

  /// Whether answers bear a tag of the body's, and not what the origin said of it: a tag of pawl's own where the route has
  /// that, or the origin's strong one.
  static func areShown(of stored: StoredResponse, _ route: RouteSettings) -> Bool {
    if route.etag == .auto { return true }
    guard let tag = stored.head.validators.tag, !tag.isWeak else { return false }
    return tag.opaque == stored.body.firstTag
  }

  /// Puts in what names the bytes, and says whether parts of them can be had.
  static func put(into fields: inout Fields, _ tag: EntityTag, of stored: StoredResponse, _ route: RouteSettings) {
    if areShown(of: stored, route) { fields.set(.etag, tag.bytes) }
    fields.set(.acceptRanges, stored.head.givesParts ? "bytes" : "none")
  }

  /// What asks the origin whether a stored response is still right: its own validators, and other tags of the origin's that are proven to
  /// name the same bytes, as nodes give them.
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

  /// A 304 that names the stored bytes by another of their tags, as if it named them by the one that is stored.
  static func inStoredWords(_ answer: ResponseHead, of stored: StoredResponse) -> ResponseHead {
    guard let own = stored.head.validators.tag, !own.isWeak,
      let named = answer.fields.only(.etag).flatMap(EntityTag.init), !named.isWeak, named.opaque != own.opaque,
      !isMinted(named), stored.body.tagLimit(named.opaque) == .max
    else { return answer }
    var answer = answer
    answer.fields.set(.etag, own.bytes)
    return answer
  }

  /// A boundary for multipart/byteranges.
  static func boundary() -> [UInt8] { Array(mint().dropFirst(5)) }
}
