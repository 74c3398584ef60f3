import Testing

@testable import PawlUpstream

@Suite("What an exchange has tried and told") struct ConnectionTriesTests {
  private enum Event { case connected, connectedHolding, release }

  /// What becomes of the head, and what is done, after each event in each state of it.
  private static let heads: [(ConnectionTries.Head, Event, ConnectionTries.Head, ConnectionTries.Connected?)] = [
    (.unannounced, .connected, .free, .init(sendsHead: true, isFirst: true)),
    (.unannounced, .connectedHolding, .held, .init(sendsHead: false, isFirst: true)),
    // Impossible: nothing is held back.
    (.unannounced, .release, .unannounced, nil),
    (.held, .connected, .held, .init(sendsHead: false, isFirst: false)),
    (.held, .connectedHolding, .held, .init(sendsHead: false, isFirst: false)),
    (.held, .release, .free, nil),
    (.free, .connected, .free, .init(sendsHead: true, isFirst: false)),
    (.free, .connectedHolding, .free, .init(sendsHead: true, isFirst: false)),
    // Impossible: it has gone.
    (.free, .release, .free, nil),
  ]

  @Test("the head goes when it may, and the first connection alone is told of")
  func head() {
    for (state, event, next, connected) in Self.heads {
      var attempts = Self.attempts(in: state)
      if event == .release {
        let isReleased = attempts.releaseHead()
        #expect(isReleased == (state == .held), "\(state)")
      } else {
        let done = attempts.connected(holdsHead: event == .connectedHolding)
        #expect(done == connected, "\(state) \(event)")
      }
      #expect(attempts.head == next, "\(state) \(event)")
      #expect(attempts.retry == .unused)
    }
  }

  @Test("one more connection is tried, whatever had gone over the first", arguments: [false, true])
  func retry(_ hasSent: Bool) {
    for state in ConnectionTries.Head.allCases {
      var attempts = Self.attempts(in: state)
      let isBegun = attempts.begin(retryHavingSent: hasSent)
      #expect(isBegun)
      #expect(attempts.retry == (hasSent ? .usedSent : .usedUnsent) && attempts.head == state)
      for again in [false, true] {
        let isBegunAgain = attempts.begin(retryHavingSent: again)
        #expect(!isBegunAgain)
        #expect(attempts.retry == (hasSent ? .usedSent : .usedUnsent))
      }
    }
  }

  @Test("another node is tried once, before or after that", arguments: [false, true])
  func elsewhere(_ hasSent: Bool) {
    var attempts = Self.attempts(in: .free)
    let isBegun = attempts.begin(elsewhereHavingSent: hasSent)
    #expect(isBegun)
    #expect(attempts.retry == (hasSent ? .usedSent : .unused))
    let isBegunAgain = attempts.begin(elsewhereHavingSent: hasSent)
    #expect(!isBegunAgain)
    var other = Self.attempts(in: .free)
    let both = [other.begin(retryHavingSent: true), other.begin(elsewhereHavingSent: hasSent)]
    #expect(both == [true, true])
    #expect(other.retry == .usedSent)
  }

  private static func attempts(in head: ConnectionTries.Head) -> ConnectionTries {
    var attempts = ConnectionTries()
    if head != .unannounced { _ = attempts.connected(holdsHead: head == .held) }
    return attempts
  }
}
