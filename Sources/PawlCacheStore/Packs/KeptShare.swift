/// The part of a pack that may be moved to another pack when the pack is emptied to free space. Only objects that were used are
/// moved: half of a pack at most, on average over many packs. If one pack uses less than its half, the rest is saved for packs in
/// which more than half was used, such as those that consist of objects that were moved before.
struct KeptShare: Hashable {
  /// The limit of the saved bytes: the halves of this many packs.
  static let packs = 16

  /// Bytes that are saved. Practically unlimited for the first pack, because the objects that are stored first are those that are
  /// requested most.
  private var saved = 1 << 40

  /// Returns how many bytes of a pack of `size` bytes may be kept; at least a sixteenth is always removed.
  func most(of size: Int) -> Int { min(size / 16 * 15, size / 2 + saved) }

  /// Notes how many bytes were kept.
  mutating func note(_ kept: Int, of size: Int) {
    saved = min(max(0, saved + size / 2 - kept), size / 2 * Self.packs)
  }
}
