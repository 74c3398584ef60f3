/// Requests in the order they came; any of them may leave.
struct WaitingLine: Hashable, Sendable {
  private struct Place: Hashable {
    var entry: ConnectionLimit.Waiter
    var isTaken = true
  }
  /// Ascending tickets; those before `start` are gone.
  private var places: [Place] = []
  private var start = 0
  private(set) var count = 0

  var first: ConnectionLimit.Waiter? { start < places.count ? places[start].entry : nil }

  /// Where it belongs by its ticket: as a rule last.
  mutating func append(_ waiter: ConnectionLimit.Waiter) {
    count += 1
    guard let last = places.last, start < places.count, last.entry.ticket > waiter.ticket else {
      return places.append(Place(entry: waiter))
    }
    let index = places[start...].firstIndex { $0.entry.ticket > waiter.ticket } ?? places.endIndex
    places.insert(Place(entry: waiter), at: index)
  }

  mutating func removeFirst() {
    start += 1
    count -= 1
    skipGaps()
  }

  /// `false` when this ticket does not wait here.
  mutating func remove(_ ticket: ConnectionLimit.Ticket) -> Bool {
    guard let index = index(of: ticket), places[index].isTaken else { return false }
    places[index].isTaken = false
    count -= 1
    skipGaps()
    return true
  }

  private mutating func skipGaps() {
    while start < places.count, !places[start].isTaken { start += 1 }
    guard start > 64, start * 2 > places.count else { return }
    places.removeFirst(start)
    start = 0
  }

  private func index(of ticket: ConnectionLimit.Ticket) -> Int? {
    var (low, high) = (start, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].entry.ticket < ticket { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low].entry.ticket == ticket ? low : nil
  }
}
