import DequeModule

/// A queue of requests, in the order in which they came. Any request in it can be removed.
struct RemovableQueue: Hashable, Sendable {
  private struct Place: Hashable {
    var entry: ConnectionLimit.Waiter
    var isTaken = true
  }
  /// In ascending order of the tickets. A removed request leaves a gap; the first entry is never a gap.
  private var places = Deque<Place>()
  private(set) var count = 0

  var first: ConnectionLimit.Waiter? { places.first?.entry }

  /// Inserts a request by its ticket, usually at the end.
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

  /// Removes a request. `false`: no request with this ticket waits here.
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
