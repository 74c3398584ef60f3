/// The numbers of objects that are on their way out, so that nobody takes one out twice: its bytes would be counted as free
/// twice. Remembered until the catalogue has forgotten the object, and longer while somebody chooses what to evict by an
/// older view of the catalogue.
struct DoomedObjects: Sendable {
  private var numbers: Set<Int64> = []
  /// Forgotten by the catalogue while rounds ran.
  private var recorded: [Int64] = []
  private var rounds = 0

  /// `inserted` is `false` when it was among them.
  @discardableResult
  mutating func insert(_ number: Int64) -> (inserted: Bool, memberAfterInsert: Int64) { numbers.insert(number) }

  func contains(_ number: Int64) -> Bool { numbers.contains(number) }

  /// It stays after all.
  mutating func remove(_ number: Int64) { numbers.remove(number) }

  /// The catalogue has forgotten it.
  mutating func noteRecorded(_ number: Int64) {
    if rounds == 0 { numbers.remove(number) } else { recorded.append(number) }
  }

  /// Somebody is about to read candidates.
  mutating func beginRound() { rounds += 1 }

  mutating func endRound() {
    rounds -= 1
    guard rounds == 0 else { return }
    numbers.subtract(recorded)
    recorded = []
  }
}
