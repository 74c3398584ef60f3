/// A hash table with a count and a flag for each key (a mark); an entry is removed when its count is 0. Marks are hashes already,
/// so their low bits are the index (open addressing, linear probing).
struct MarkCounts: Hashable {
  struct Entry: Hashable {
    /// The key (a hash). Never 0 while ``count`` is above 0.
    var mark: UInt64 = 0
    var count = 0
    var isFlagged = false
  }

  private var entries: [Entry]
  private var used = 0

  /// - Parameter capacity: a power of two; the table grows.
  init(capacity: Int = 64) { entries = Array(repeating: Entry(), count: capacity) }

  func count(of mark: UInt64) -> Int { entries[place(of: mark)].count }
  func isFlagged(_ mark: UInt64) -> Bool { entries[place(of: mark)].isFlagged }

  mutating func add(_ mark: UInt64) {
    let place = place(of: mark)
    entries[place].count += 1
    guard entries[place].count == 1 else { return }
    entries[place].mark = mark
    used += 1
    if used * 2 > entries.count { grow() }
  }

  /// - Parameter flag: the flag of the entry from now on.
  mutating func remove(_ mark: UInt64, flag: Bool = false) {
    let place = place(of: mark)
    guard entries[place].count > 0 else { return }
    entries[place].count -= 1
    entries[place].isFlagged = flag
    if entries[place].count == 0 { empty(place) }
  }

  private func home(_ mark: UInt64) -> Int { Int(truncatingIfNeeded: mark) & (entries.count - 1) }

  /// Returns the index of the entry of the mark, or of the empty entry where it would be.
  private func place(of mark: UInt64) -> Int {
    var place = home(mark)
    while entries[place].count > 0, entries[place].mark != mark { place = (place + 1) & (entries.count - 1) }
    return place
  }

  /// Removes an entry, and moves entries after it into the gap if they belong there (linear probing, backward-shift deletion).
  private mutating func empty(_ gone: Int) {
    used -= 1
    let mask = entries.count - 1
    var (gap, place) = (gone, (gone + 1) & mask)
    while entries[place].count > 0 {
      let distance = (place - home(entries[place].mark)) & mask
      if distance >= (place - gap) & mask {
        entries[gap] = entries[place]
        gap = place
      }
      place = (place + 1) & mask
    }
    entries[gap] = Entry()
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: Entry(), count: old.count * 2)
    for entry in old where entry.count > 0 { entries[place(of: entry.mark)] = entry }
  }
}
