import PawlBase
import PawlCache
import PawlLoop

/// Limits the fills without readers to `abandonedFillLimit` for each upstream. If an upstream has more of them, the one that has brought
/// the fewest bytes ends.
final class AbandonedFillLimiter: Sendable {
  struct Entry {
    var fill: ObjectIdentifier
    var upstream: ObjectIdentifier
    var loop: LoopWeak<Fill>
    var advanced: UInt64
  }

  private let entries = Locked<[Entry]>([])

  /// Adds a fill that has no readers.
  /// - Returns: the fill that has to end, because there are too many; `nil`: the limit is kept.
  func add(_ fill: Fill, of upstream: AnyObject, on loop: EventLoop) -> Entry? {
    let entry = Entry(
      fill: ObjectIdentifier(fill), upstream: ObjectIdentifier(upstream), loop: LoopWeak(fill, on: loop),
      advanced: fill.advanced)
    return entries.withLock { entries in
      entries.removeAll { $0.fill == entry.fill }
      entries.append(entry)
      let same = entries.filter { $0.upstream == entry.upstream }
      guard same.count > abandonedFillLimit, let least = same.min(by: { $0.advanced < $1.advanced }) else { return nil }
      entries.removeAll { $0.fill == least.fill }
      return least
    }
  }

  func remove(_ fill: Fill, of upstream: AnyObject) {
    entries.withLock { [id = ObjectIdentifier(fill)] in $0.removeAll { $0.fill == id } }
  }
}
