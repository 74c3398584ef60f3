/// How much of a pack that is emptied to make room may be written anew, because it was used: half, over many packs. What packs of
/// little use leave of theirs is for those where all is in use, which are what the former make.
struct KeptShare: Hashable {
  /// Bytes are saved up for so many packs at most.
  static let packs = 16

  /// At first as many as there may be: what comes first is what is asked for most.
  private var saved = 1 << 40

  /// Bytes of a pack of so many that may be kept; some of it goes in any case.
  func most(of size: Int) -> Int { min(size / 16 * 15, size / 2 + saved) }

  /// So many were.
  mutating func note(_ kept: Int, of size: Int) {
    saved = min(max(0, saved + size / 2 - kept), size / 2 * Self.packs)
  }
}
