import CLinux
import Testing

@testable import PawlTLS

@Suite("The life of a TLS connection") struct TLSLifeTests {
  @Test("a socket that had less than was asked for is asked again after it was told of; one that has ended stays so")
  func socket() {
    let states: [(TLSSocket, began: TLSSocket, failure: CInt?)] = [
      (.open, .open, nil), (.drained, .open, nil), (.ended, .ended, ECONNRESET),
      (.failed(EPIPE), .failed(EPIPE), EPIPE),
    ]
    for (state, began, failure) in states {
      var socket = state
      socket.beganReceiving()
      #expect(socket == began && state.failure == failure)
    }
    for (count, after) in [(9, TLSSocket.drained), (10, .open)] {
      var socket = TLSSocket.open
      socket.received(count, of: 10)
      #expect(socket == after)
    }
  }

  @Test("reading ends once, and is over before and after the reader knows")
  func reading() {
    typealias Row = (TLSReading, holding: TLSReading, idle: TLSReading, ended: TLSReading, told: TLSEngine.Step?)
    let table: [Row] = [
      (.idle, .holding, .idle, .ended(.end), nil),
      (.holding, .holding, .idle, .ended(.end), nil),
      (.ended(.failed(1)), .ended(.failed(1)), .ended(.failed(1)), .ended(.failed(1)), .failed(1)),
      (.told(.failed(1)), .told(.failed(1)), .told(.failed(1)), .told(.failed(1)), .failed(1)),
    ]
    for (state, holding, idle, ended, told) in table {
      var (first, second, third, fourth) = (state, state, state, state)
      first.noteHolding(true)
      second.noteHolding(false)
      third.ended(.end)
      #expect(first == holding && second == idle && third == ended)
      #expect(fourth.tell() == told && fourth == (told.map { .told($0) } ?? state))
      #expect(state.isOver == (told != nil))
    }
  }

  @Test(
    "it broke where it ended in any other way than by close_notify",
    arguments: [
      (.idle, false), (.holding, false), (.ended(.end), false), (.told(.end), false), (.ended(.failed(1)), true),
      (.told(.failed(1)), true),
    ] as [(TLSReading, Bool)])
  func broken(_ state: TLSReading, isBroken: Bool) { #expect(state.isBroken == isBroken) }

  @Test("writing ends once; close_notify is owed only after it")
  func writing() {
    let table: [(TLSWriting, isFirst: Bool, ended: TLSWriting, owed: TLSWriting, sent: TLSWriting)] = [
      (.open, true, .ended, .open, .open), (.owing, false, .owing, .owing, .ended),
      (.ended, false, .ended, .owing, .ended),
    ]
    for (state, isFirst, ended, owed, sent) in table {
      var (first, second, third) = (state, state, state)
      #expect(first.end() == isFirst && first == ended)
      let isPossible = second.noteCloseNotify(isOwed: true)
      #expect(isPossible == (state != .open) && second == owed)
      #expect(third.noteCloseNotify(isOwed: false) == isPossible && third == sent)
    }
  }
}
