/// One entity tag under which a stored body was announced, and how far pawl can still vouch for it.
///
/// A body has one tag it is announced with and any number of aliases: tags of earlier bodies proven equal, byte for byte.
/// After an unclean end, without the origin's own strong tag, a tag covers only what was synced and recorded.
package struct TagRecord: Hashable, Sendable {
  /// What stands between the quotes.
  package var tag: [UInt8]
  /// The tag matches ranges that start at or below this offset; `.max` = everywhere.
  package var limit: UInt64

  package init(tag: [UInt8], limit: UInt64 = .max) { (self.tag, self.limit) = (tag, limit) }

  /// A tag of pawl's own for a new byte sequence.
  /// - Parameter random: at least 16 random octets; the first 16 are used.
  package init(mintedFrom random: [UInt8]) {
    var tag = Self.mintedPrefix
    for octet in random.prefix(16) {
      tag.append(Self.hexDigit(octet >> 4))
      tag.append(Self.hexDigit(octet & 15))
    }
    self.init(tag: tag)
  }

  /// Whether a strong tag with these octets names this body for a range that starts at `start`
  /// (RFC 9110 §8.8.3.2, strong comparison; a weak tag never does).
  package func covers(_ opaque: some Collection<UInt8>, from start: UInt64) -> Bool {
    start <= limit && tag.elementsEqual(opaque)
  }

  /// Whether a tag has the form of those pawl mints. Such a tag never goes to an origin.
  package static func isMinted(_ opaque: some Collection<UInt8>) -> Bool {
    guard opaque.count == mintedPrefix.count + 32, opaque.starts(with: mintedPrefix) else { return false }
    return opaque.dropFirst(mintedPrefix.count).allSatisfy { $0 &- 0x30 <= 9 || $0 &- 0x61 <= 5 }
  }

  private static let mintedPrefix: [UInt8] = [0x70, 0x2d]  // "p-"
  private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
