import Testing

@testable import PawlUpstream

@Suite("Who is next for a place") struct PlaceQueueTests {
  private func waiter(
    _ ticket: UInt64, _ use: OriginUse = .passThrough, _ holder: PlaceHolder = .nobody
  ) -> ConnectionLimit.Waiter {
    ConnectionLimit.Waiter(ticket: ticket, pool: 0, use: use, prefersIdle: false, holder: holder)
  }

  private let room = PlaceQueue.Room(fills: 1, uploads: 1)

  @Test("the first that came, of those whose use has room")
  func order() {
    let shares = PlaceShares(limit: 8, clientShare: 100, pathShare: 100)
    var queue = PlaceQueue()
    for (ticket, use) in [(1, OriginUse.fill), (2, .upload), (3, .passThrough), (4, .fill)] {
      queue.append(waiter(UInt64(ticket), use))
    }
    #expect(queue.count == 4 && queue.servable(shares, room) == 3)
    #expect(queue.next(shares, PlaceQueue.Room(fills: 0, uploads: 0))?.ticket == 3)
    #expect(queue.next(shares, PlaceQueue.Room(fills: 0, uploads: 1))?.ticket == 2)
    #expect(queue.next(shares, room)?.ticket == 1)
    queue.removeNext()
    #expect(queue.next(shares, room)?.ticket == 2)
    let isLeft = (queue.remove(2), queue.remove(2))
    #expect(isLeft == (true, false) && queue.count == 2)
    #expect(queue.next(shares, room)?.ticket == 3)
  }

  @Test("whoever is above a share steps aside, and comes back in turn")
  func aside() {
    var shares = PlaceShares(limit: 4, clientShare: 75, pathShare: 50)
    let (greedy, other) = (PlaceHolder(client: 7, path: 1), PlaceHolder(client: 8, path: 2))
    shares.take(greedy, .passThrough)
    shares.take(greedy, .passThrough)
    var queue = PlaceQueue()
    for ticket in 1...3 as ClosedRange<UInt64> { queue.append(waiter(ticket, .passThrough, greedy)) }
    #expect(queue.next(shares, room) == nil && queue.servable(shares, room) == 0)
    queue.append(waiter(4, .passThrough, other))
    #expect(queue.next(shares, room)?.ticket == 4)
    // The same client for another path is served before those of its own that came earlier.
    queue.append(waiter(5, .passThrough, PlaceHolder(client: 7, path: 3)))
    queue.removeNext()
    #expect(queue.next(shares, room)?.ticket == 5)
    shares.take(PlaceHolder(client: 7, path: 3), .passThrough)
    shares.giveBack(greedy, .passThrough, isQuick: false)
    #expect(queue.next(shares, room)?.ticket == 1 && queue.servable(shares, room) == 4)
    let isLeft = (queue.remove(1), queue.remove(2))
    #expect(isLeft == (true, true) && queue.count == 2)
    #expect(queue.next(shares, room)?.ticket == 3)
    queue.removeNext()
    #expect(queue.count == 1)
  }

  @Test("who is above two shares waits for both, in the order of coming")
  func both() {
    var shares = PlaceShares(limit: 4, clientShare: 50, pathShare: 25)
    let (first, second) = (PlaceHolder(client: 7, path: 1), PlaceHolder(client: 7, path: 2))
    shares.take(first, .passThrough)
    shares.take(second, .passThrough)
    var queue = PlaceQueue()
    queue.append(waiter(1, .passThrough, first))
    queue.append(waiter(2, .passThrough, PlaceHolder(client: 7, path: 3)))
    #expect(queue.next(shares, room) == nil)
    shares.giveBack(first, .passThrough, isQuick: false)
    shares.take(PlaceHolder(client: 7, path: 4), .passThrough)
    // The path has room again, the client has not: behind the other, were it not for its ticket.
    #expect(queue.next(shares, room) == nil)
    shares.giveBack(second, .passThrough, isQuick: false)
    #expect(queue.next(shares, room)?.ticket == 1)
  }
}
