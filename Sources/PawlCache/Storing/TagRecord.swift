import PawlHTTP

/// One entity tag under which a stored body was announced, and how far pawl can still vouch for it.
///
/// A body has one tag it is announced with and up to ``aliasLimit`` aliases: tags of bodies proven equal, byte for byte.
/// After an unclean end, without the origin's own strong tag, a tag covers only what was synced and recorded.
package struct TagRecord: Hashable, Sendable {
  /// What stands between the quotes.
  package var tag: [UInt8]
  /// The tag matches ranges below this offset, and those from there or below to the end of the body; `.max` = everywhere.
  package var limit: UInt64

  /// Tags of a body beside the one it is announced with; of more, the longest unused goes.
  package static let aliasLimit = 64

  /// Begins the tags of pawl's own.
  package static let ownPrefix: StaticString = "pawl-"

  /// Whether a tag is one of pawl's own: of one sequence of bytes, wherever it was given.
  package static func isOwn(_ opaque: [UInt8]) -> Bool { opaque[...].hasPrefix(ownPrefix) }

  package init(tag: [UInt8], limit: UInt64 = .max) { (self.tag, self.limit) = (tag, limit) }

  /// Whether a strong tag with these bytes names this body for a range that starts at `start`
  /// (RFC 9110 §8.8.3.2, strong comparison; a weak tag never does).
  package func covers(_ opaque: some Collection<UInt8>, from start: UInt64) -> Bool {
    start <= limit && tag.elementsEqual(opaque)
  }
}

/// The tags of one body: the one it is announced with, then its aliases, the latest used first.
extension [TagRecord] {
  /// Adds a tag, or widens or narrows one that is there. The first ever added is the one the body is announced with.
  /// - Returns: whether anything changed.
  package mutating func note(_ record: TagRecord) -> Bool {
    if let index = firstIndex(where: { $0.tag == record.tag }) {
      guard self[index] != record else { return false }
      self[index] = record
    } else {
      insert(record, at: Swift.min(1, count))
      keepToLimit()
    }
    return true
  }

  /// How far a tag of these covers; it counts as used now.
  package mutating func use(_ opaque: [UInt8]) -> UInt64? {
    guard let index = firstIndex(where: { $0.tag == opaque }) else { return nil }
    if index > 1 { insert(remove(at: index), at: 1) }
    return self[Swift.min(index, 1)].limit
  }

  /// Takes in the tags of an older body, which was proven equal to this one.
  /// - Parameters:
  ///   - older: as far as they cover this body.
  ///   - takesName: the older one's first tag is what both are announced with from now on, where it covers all.
  ///   - isTold: whether anybody was told the own first tag: else it is forgotten where it gives way.
  package mutating func inherit(_ older: [TagRecord], takesName: Bool, isTold: Bool) {
    guard let name = older.first else { return }
    let gives = takesName && name.limit == .max
    let all = gives ? [name] + (isTold ? self[...] : dropFirst()) + older.dropFirst() : self + older
    removeAll()
    for record in all where !contains(where: { $0.tag == record.tag }) { append(record) }
    keepToLimit()
  }

  /// Lets go of what is beyond ``TagRecord/aliasLimit``.
  package mutating func keepToLimit() { removeLast(Swift.max(0, count - 1 - TagRecord.aliasLimit)) }
}
