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

  @Test("requests whose content is not here take half, at least one", arguments: [(1, 1), (2, 1), (3, 1), (8, 4)])
  func uploads(_ count: Int, _ share: Int) {
    var limit = ConnectionLimit(limit: count)
    let granted = (0..<count).filter { _ in !limit.enter(0, use: .upload, prefersIdle: false).actions.isEmpty }
    #expect(granted.count == share)
    let others = (0..<count).filter { _ in !limit.enter(0, use: .passThrough, prefersIdle: false).actions.isEmpty }
    #expect(others.count == count - share)
    #expect(said(limit.ended(0, use: .upload, staysIdle: false)).count == 1)
  }

  @Test("it is crowded from three quarters on, and when anybody waits")
  func crowded() {
    var limit = ConnectionLimit(limit: 4)
    for isCrowded in [false, false, true, true] {
      _ = limit.enter(0, use: .passThrough, prefersIdle: false)
      #expect(limit.isCrowded == isCrowded)
    }
    for isCrowded in [true, false] {
      _ = limit.ended(0, use: .passThrough, staysIdle: false)
      #expect(limit.isCrowded == isCrowded)
    }
    var fills = ConnectionLimit(limit: 4)
    for isCrowded in [false, false, true] {
      _ = fills.enter(0, use: .fill, prefersIdle: false)
      #expect(fills.isCrowded == isCrowded)
    }
    var none = ConnectionLimit(limit: 0)
    _ = none.enter(0, use: .passThrough, prefersIdle: false)
    #expect(!none.isCrowded)
  }

  @Test("a client has its share, one past it waits while others are served, and comes in when one of its own ends")
  func clientShare() {
    var limit = ConnectionLimit(limit: 10, clientShare: 50)
    let slow = PlaceHolder(client: 7, path: 1)
    func enter(_ holder: PlaceHolder) -> [String] {
      said(limit.enter(0, use: .passThrough, prefersIdle: false, for: holder).actions)
    }
    for ticket in 1...5 { #expect(enter(slow) == ["\(ticket) new"]) }
    #expect(enter(slow) == [])
    #expect(enter(PlaceHolder(client: 8, path: 1)) == ["7 new"])
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: true, PlaceHolder(client: 8, path: 1))) == [])
    func takes(_ holder: PlaceHolder) -> Bool { limit.takeIdle(of: 0, for: .passThrough, holder) }
    #expect(!takes(slow))
    #expect(said(limit.ended(0, use: .passThrough, staysIdle: false, slow)) == ["6 new"])
    #expect(limit.waitingCount == 0 && !takes(slow) && takes(PlaceHolder(client: 9, path: 2)))
  }

  @Test("a path has its share, and more once its answers come soon")
  func pathShare() {
    var limit = ConnectionLimit(limit: 10, pathShare: 30)
    func enter(_ client: UInt64) -> [String] {
      said(limit.enter(0, use: .passThrough, prefersIdle: false, for: PlaceHolder(client: client, path: 1)).actions)
    }
    for client in 1...3 as ClosedRange<UInt64> { #expect(enter(client) == ["\(client) new"]) }
    #expect(enter(4) == [] && enter(5) == [])
    let slow = limit.ended(0, use: .passThrough, staysIdle: false, PlaceHolder(client: 1, path: 1))
    #expect(said(slow) == ["4 new"])
    let quick = limit.ended(0, use: .passThrough, staysIdle: false, PlaceHolder(client: 2, path: 1), isQuick: true)
    #expect(said(quick) == ["5 new"])
    #expect(enter(6) == ["6 new"])
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
