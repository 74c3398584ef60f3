/// One entity tag under which a stored body was announced, and how far pawl can still vouch for it.
///
/// A body has one tag it is announced with and any number of aliases: tags of earlier bodies proven equal, byte for byte.
/// After an unclean end, without the origin's own strong tag, a tag covers only what was synced and recorded.
package struct TagRecord: Hashable, Sendable {
  /// What stands between the quotes.
  package var tag: [UInt8]
  /// The tag matches ranges below this offset, and those from there or below to the end of the body; `.max` = everywhere.
  package var limit: UInt64

  package init(tag: [UInt8], limit: UInt64 = .max) { (self.tag, self.limit) = (tag, limit) }

  /// Whether a strong tag with these octets names this body for a range that starts at `start`
  /// (RFC 9110 §8.8.3.2, strong comparison; a weak tag never does).
  package func covers(_ opaque: some Collection<UInt8>, from start: UInt64) -> Bool {
    start <= limit && tag.elementsEqual(opaque)
  }
}
