/// The share of a pack that may be written to another pack when it is emptied to make room, because it was used: half of it, on
/// average over many packs. What some packs do not use of their share is saved for packs in which all objects are in use; those
/// consist of objects that were kept before.
struct KeptShare: Hashable {
  /// The number of packs for which bytes are saved at most.
  static let packs = 16

  /// Bytes that are saved. Unlimited for the first pack: what is stored first is what is requested most.
  private var saved = 1 << 40

  /// Returns how many bytes of a pack of `size` bytes may be kept; at least a sixteenth is always removed.
  func most(of size: Int) -> Int { min(size / 16 * 15, size / 2 + saved) }

  /// Notes how many bytes were kept.
  mutating func note(_ kept: Int, of size: Int) {
    saved = min(max(0, saved + size / 2 - kept), size / 2 * Self.packs)
  }
}
