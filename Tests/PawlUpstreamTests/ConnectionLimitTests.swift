import Testing

@testable import PawlUpstream

@Suite("The connection limit over all loops") struct ConnectionLimitTests {
  /// Tickets granted and how, pools woken, in order.
  private func said(_ actions: [ConnectionLimit.Action]) -> [String] {
    actions.map {
      switch $0 {
      case .grant(let waiter, let usingIdle): "\(waiter.ticket) \(usingIdle ? "idle" : "new")"
      case .wake(let pool): "wake \(pool)"
      }
    }
  }

  @Test("grants up to the limit, then in the order of coming")
  func firstComeFirstServed() {
    var limit = ConnectionLimit(limit: 2)
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: false).actions) == ["1 new"])
    #expect(said(limit.enter(1, use: .passThrough, prefersIdle: false).actions) == ["2 new"])
    #expect(said(limit.enter(1, use: .passThrough, prefersIdle: false).actions) == [])
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: false).actions) == [])
    #expect(limit.waitingCount == 2)
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: false)) == ["3 new"])
    #expect(said(limit.ended(1, use: .passThrough, staysIdle: false)) == ["4 new"])
    #expect(limit.count == 2)
  }

  @Test("no limit grants everything")
  func unlimited() {
    var limit = ConnectionLimit(limit: 0)
    for ticket in 1...100 {
      #expect(said(limit.enter(0, use: .fill, prefersIdle: false).actions) == ["\(ticket) new"])
    }
  }

  @Test("fills take half, at least one; others pass those that wait", arguments: [(1, 1), (2, 1), (3, 1), (8, 4)])
  func fills(_ count: Int, _ share: Int) {
    var limit = ConnectionLimit(limit: count)
    let granted = (0..<count).filter { _ in !limit.enter(0, use: .fill, prefersIdle: false).actions.isEmpty }
    #expect(granted.count == share)
    let others = (0..<count).filter { _ in !limit.enter(0, use: .passThrough, prefersIdle: false).actions.isEmpty }
    #expect(others.count == count - share)
  }

  @Test("a fill that ends lets the next fill in, before later requests")
  func nextFill() {
    var limit = ConnectionLimit(limit: 2)
    _ = limit.enter(0, use: .fill, prefersIdle: false)
    _ = limit.enter(0, use: .fill, prefersIdle: false)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: false)) == ["4 new"])
    #expect(said(limit.ended(0, use: .fill, staysIdle: false)) == ["2 new"])
  }

  @Test("the short ways of the usual case count as the long ones do, and stand back when anybody waits or may not")
  func shortWays() {
    var (short, long) = (ConnectionLimit(limit: 2), ConnectionLimit(limit: 2))
    func ended(_ use: OriginUse) -> Bool { short.endedUnawaited(0, use: use, staysIdle: true) }
    func takes(_ pool: Int, _ use: OriginUse) -> Bool { short.takeIdle(of: pool, for: use) }
    for use in [OriginUse.passThrough, .fill] {
      _ = short.enter(0, use: use, prefersIdle: false)
      _ = long.enter(0, use: use, prefersIdle: false)
    }
    #expect(ended(.fill))
    #expect(said(long.ended(0, use: .fill, staysIdle: true)) == [])
    #expect(short == long)
    #expect(!takes(1, .passThrough))
    #expect(takes(0, .fill))
    #expect(said(long.enter(0, use: .fill, prefersIdle: true).actions) == ["3 idle"])
    #expect(short.count == long.count && short.waitingCount == 0)
    // A second fill is above their share, whatever is idle.
    #expect(ended(.passThrough))
    #expect(!takes(0, .fill))
    #expect(takes(0, .passThrough))
    #expect(said(short.enter(1, use: .passThrough, prefersIdle: false).actions) == [])
    #expect(!ended(.passThrough))
    #expect(said(short.ended(0, use: .passThrough, staysIdle: false)) == ["3 new"])
  }

  @Test("an idle connection of the own loop is used again")
  func reuse() {
    var limit = ConnectionLimit(limit: 1)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: true)) == [])
    #expect(limit.count == 1)
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: true).actions) == ["2 idle"])
    #expect(limit.count == 1)
  }

  @Test("an idle connection to another URL is used only when there is no room for a new one")
  func reuseOfAnother() {
    var limit = ConnectionLimit(limit: 2)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.ended(0, use: .passThrough, staysIdle: true)
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: false).actions) == ["2 new"])
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: false).actions) == ["3 idle"])
  }

  @Test("idle connections of another loop are closed to make room, one for each that waits")
  func reclaim() {
    var limit = ConnectionLimit(limit: 3)
    for _ in 0..<3 { _ = limit.enter(0, use: .passThrough, prefersIdle: false) }
    for _ in 0..<3 { _ = limit.ended(0, use: .passThrough, staysIdle: true) }
    #expect(said(limit.enter(1, use: .passThrough, prefersIdle: false).actions) == ["wake 0"])
    #expect(said(limit.enter(1, use: .passThrough, prefersIdle: false).actions) == [])  // woken already
    let look = limit.look(0)
    #expect(look.toClose == 2)
    #expect(said(look.actions) == [])
    #expect(said(limit.idleClosed(0, count: 2)) == ["4 new", "5 new"])
    #expect(limit.count == 3)
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: true).actions) == ["6 idle"])
  }

  @Test("what is about to be closed for another loop is not used again")
  func promised() {
    var limit = ConnectionLimit(limit: 1)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.ended(0, use: .passThrough, staysIdle: true)
    _ = limit.enter(1, use: .passThrough, prefersIdle: false)
    #expect(said(limit.enter(0, use: .passThrough, prefersIdle: true).actions) == [])
    #expect(said(limit.idleClosed(0, count: 1)) == ["2 new"])
    #expect(said(limit.ended(1, use: .passThrough, staysIdle: false)) == ["3 new"])
  }

  @Test("a connection that becomes idle goes to the first in line, on whatever loop it waits")
  func handedOver() {
    var limit = ConnectionLimit(limit: 1)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.enter(1, use: .passThrough, prefersIdle: false)
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: true)) == ["2 idle"])
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: true)) == ["wake 0"])
    #expect(limit.look(0).toClose == 1)
    #expect(said(limit.idleClosed(0, count: 1)) == ["3 new"])
  }

  @Test("a fill whose turn comes through another loop is served on its own loop's idle connection")
  func wokenForItsOwn() {
    var limit = ConnectionLimit(limit: 2)
    _ = limit.enter(1, use: .fill, prefersIdle: false)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    _ = limit.ended(0, use: .passThrough, staysIdle: true)
    #expect(said(limit.enter(0, use: .fill, prefersIdle: true).actions) == [])
    #expect(said(limit.ended(1, use: .fill, staysIdle: false)) == ["wake 0"])
    #expect(said(limit.look(0).actions) == ["3 idle"])
  }

  @Test("who leaves the line is passed over")
  func leaving() {
    var limit = ConnectionLimit(limit: 1)
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    let second = limit.enter(0, use: .passThrough, prefersIdle: false).ticket
    _ = limit.enter(0, use: .passThrough, prefersIdle: false)
    let left = [limit.leave(second), limit.leave(second)]
    #expect(left == [true, false])
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: false)) == ["3 new"])
    let leftAfterGrant = limit.leave(3)
    #expect(!leftAfterGrant)
    #expect(limit.waitingCount == 0)
  }
}
