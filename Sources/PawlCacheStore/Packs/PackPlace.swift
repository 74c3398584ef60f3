/// Where an object lies in the packs: which pack, from which octet on, and how many octets. 60 bits, so that the index keeps it in one
/// word beside the hash of the key.
struct PackPlace: Hashable, Sendable {
  /// Records begin at multiples of so many octets, and are padded to them.
  static let unit = 64
  /// The most octets of one pack.
  static let packLimit = 1 << (offsetBits + 6)
  /// The most octets of one record.
  static let recordLimit = ((1 << sizeBits) - 1) * unit
  /// The most packs that are ever made in one cache: 16 PiB of objects.
  static let numberLimit: UInt32 = 1 << 26

  private static let sizeBits = 12
  private static let offsetBits = 22

  /// The lowest 60.
  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - pack: its number, below ``numberLimit``.
  ///   - offset: in octets, a multiple of ``unit`` below ``packLimit``.
  ///   - size: in octets, a multiple of ``unit``, at most ``recordLimit``.
  init(pack: UInt32, offset: Int, size: Int) {
    bits =
      UInt64(pack) << UInt64(Self.offsetBits + Self.sizeBits) | UInt64(offset / Self.unit) << UInt64(Self.sizeBits)
      | UInt64(size / Self.unit)
  }

  var pack: UInt32 { UInt32(truncatingIfNeeded: bits >> UInt64(Self.offsetBits + Self.sizeBits)) }
  var offset: Int { Int(bits >> UInt64(Self.sizeBits) & (1 << UInt64(Self.offsetBits) - 1)) * Self.unit }
  var size: Int { Int(bits & (1 << UInt64(Self.sizeBits) - 1)) * Self.unit }
}
