/// The numbers of objects that are being removed, so that no object is removed twice. Otherwise its bytes would be counted as
/// free twice. A number is kept until the catalogue has removed the row, and until no round runs. A round is a task that reads
/// rows from the catalogue and later removes objects, such as an eviction: it may have read the row before it was removed.
struct DoomedObjects: Sendable {
  private var numbers: Set<Int64> = []
  /// Numbers whose rows were removed while rounds ran.
  private var recorded: [Int64] = []
  private var rounds = 0

  /// Adds a number. `inserted` is `false` if the number was there already.
  @discardableResult
  mutating func insert(_ number: Int64) -> (inserted: Bool, memberAfterInsert: Int64) { numbers.insert(number) }

  func contains(_ number: Int64) -> Bool { numbers.contains(number) }

  /// Removes a number, because the object is in use and is not removed now.
  mutating func remove(_ number: Int64) { numbers.remove(number) }

  /// Notes that the row is removed from the catalogue.
  mutating func noteRecorded(_ number: Int64) {
    if rounds == 0 { numbers.remove(number) } else { recorded.append(number) }
  }

  /// Begins a round: a task that reads rows from the catalogue, and then removes some of these objects.
  mutating func beginRound() { rounds += 1 }

  mutating func endRound() {
    rounds -= 1
    guard rounds == 0 else { return }
    numbers.subtract(recorded)
    recorded = []
  }
}
