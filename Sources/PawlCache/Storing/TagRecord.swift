import PawlHTTP

/// One entity tag of a stored body, and the part of the body for which the tag is still valid.
///
/// A body has one tag that pawl sends with it, and up to ``aliasLimit`` aliases: tags of bodies that were proven equal, byte for
/// byte. After a crash, a tag of a body without the origin's own strong tag covers only the bytes that were synced and recorded.
package struct TagRecord: Hashable, Sendable {
  /// The bytes between the quotes.
  package var tag: [UInt8]
  /// The tag is valid for ranges below this offset, and for ranges that start at or below it and reach the end of the body;
  /// `.max` = everywhere.
  package var limit: UInt64

  /// The most aliases of a body. If there are more, the alias that was unused for the longest time is dropped.
  package static let aliasLimit = 64

  /// The prefix of tags that pawl makes.
  package static let ownPrefix: StaticString = "pawl-"

  /// Whether pawl made a tag; such a tag names one byte sequence, wherever it was sent.
  package static func isOwn(_ opaque: [UInt8]) -> Bool { opaque[...].hasPrefix(ownPrefix) }

  package init(tag: [UInt8], limit: UInt64 = .max) { (self.tag, self.limit) = (tag, limit) }

  /// Whether a strong tag with these bytes names this body for a range that starts at `start`
  /// (RFC 9110 §8.8.3.2, strong comparison; a weak tag never does).
  package func covers(_ opaque: some Collection<UInt8>, from start: UInt64) -> Bool {
    start <= limit && tag.elementsEqual(opaque)
  }
}

/// The tags of one body: first the tag that pawl sends, then the aliases, the last used one first.
extension [TagRecord] {
  /// Adds a tag, or changes the limit of a known one. The first tag ever added is the one that pawl sends.
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

  /// Returns the limit of a tag, and marks the tag as used now. `nil` when the body does not have this tag.
  package mutating func use(_ opaque: [UInt8]) -> UInt64? {
    guard let index = firstIndex(where: { $0.tag == opaque }) else { return nil }
    if index > 1 { insert(remove(at: index), at: 1) }
    return self[Swift.min(index, 1)].limit
  }

  /// Adds the tags of an older body, which was proven equal to this one.
  /// - Parameters:
  ///   - older: the tags of the older body, with the limits that hold for this body.
  ///   - takesName: whether the first tag of the older body becomes the one that pawl sends, if that tag covers the complete
  ///     body.
  ///   - isTold: whether the first tag of this body was sent to a client; if not, the tag is forgotten when it is replaced.
  package mutating func inherit(_ older: [TagRecord], takesName: Bool, isTold: Bool) {
    guard let name = older.first else { return }
    let gives = takesName && name.limit == .max
    let all = gives ? [name] + (isTold ? self[...] : dropFirst()) + older.dropFirst() : self + older
    removeAll()
    for record in all where !contains(where: { $0.tag == record.tag }) { append(record) }
    keepToLimit()
  }

  /// Drops the aliases beyond ``TagRecord/aliasLimit``.
  package mutating func keepToLimit() { removeLast(Swift.max(0, count - 1 - TagRecord.aliasLimit)) }
}
