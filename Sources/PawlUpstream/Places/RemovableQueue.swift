import DequeModule

/// Requests in the order they came; any of them may leave.
struct RemovableQueue: Hashable, Sendable {
  private struct Place: Hashable {
    var entry: ConnectionLimit.Waiter
    var isTaken = true
  }
  /// Ascending tickets; the first one still waits.
  private var places = Deque<Place>()
  private(set) var count = 0

  var first: ConnectionLimit.Waiter? { places.first?.entry }

  /// Where it belongs by its ticket: as a rule last.
  mutating func append(_ waiter: ConnectionLimit.Waiter) {
    count += 1
    guard let last = places.last, last.entry.ticket > waiter.ticket else {
      return places.append(Place(entry: waiter))
    }
    let index = places.firstIndex { $0.entry.ticket > waiter.ticket } ?? places.endIndex
    places.insert(Place(entry: waiter), at: index)
  }

  mutating func removeFirst() {
    places.removeFirst()
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
    while let first = places.first, !first.isTaken { places.removeFirst() }
  }

  private func index(of ticket: ConnectionLimit.Ticket) -> Int? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].entry.ticket < ticket { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low].entry.ticket == ticket ? low : nil
  }
}
