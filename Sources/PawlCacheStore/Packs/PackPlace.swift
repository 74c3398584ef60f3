/// The place of an object in the packs: the number of the pack, the offset and the size in bytes. 60 bits, so that the index
/// stores it in one word beside the hash of the key.
struct PackPlace: Hashable, Sendable {
  /// Records begin at multiples of this number of bytes, and are padded to it.
  static let unit = 64
  /// The largest size of a pack in bytes.
  static let packLimit = 1 << (offsetBits + 6)
  /// The largest size of a record in bytes.
  static let recordLimit = large + (half - 1) * largeUnit
  /// The most packs that one cache ever makes: 16 PiB of objects.
  static let numberLimit: UInt32 = 1 << 26

  /// Records of at least `large` bytes have the size `large` plus a multiple of `largeUnit`. So sizes up to ``recordLimit``,
  /// about 17 times `large`, fit into the same number of bits.
  private static let large = half * unit
  private static let largeUnit = 1024
  /// A size code below `half` is the size in units of ``unit``. The other codes are those of large records.
  private static let half = 1 << (sizeBits - 1)

  private static let sizeBits = 12
  private static let offsetBits = 22

  /// The place in the lowest 60 bits.
  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - pack: the number of the pack, below ``numberLimit``.
  ///   - offset: in bytes, a multiple of ``unit`` below ``packLimit``.
  ///   - size: in bytes, at most ``recordLimit``; rounded up as by ``padded(_:)``.
  init(pack: UInt32, offset: Int, size: Int) {
    bits =
      UInt64(pack) << UInt64(Self.offsetBits + Self.sizeBits) | UInt64(offset / Self.unit) << UInt64(Self.sizeBits)
      | UInt64(Self.code(of: size))
  }

  /// Rounds a size up to the next size that a record can have.
  static func padded(_ size: Int) -> Int { self.size(of: code(of: size)) }

  private static func code(of size: Int) -> Int {
    guard size > large - unit else { return (size + unit - 1) / unit }
    return half + (max(0, size - large) + largeUnit - 1) / largeUnit
  }

  private static func size(of code: Int) -> Int {
    code < half ? code * unit : large + (code - half) * largeUnit
  }

  var pack: UInt32 { UInt32(truncatingIfNeeded: bits >> UInt64(Self.offsetBits + Self.sizeBits)) }
  var offset: Int { Int(bits >> UInt64(Self.sizeBits) & (1 << UInt64(Self.offsetBits) - 1)) * Self.unit }
  var size: Int { Self.size(of: Int(bits & (1 << UInt64(Self.sizeBits) - 1))) }
}
