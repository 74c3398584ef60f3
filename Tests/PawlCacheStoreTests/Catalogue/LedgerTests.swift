import PawlCache
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("The ledger") struct LedgerTests {
  private let directory = TestDirectory()

  private func append(_ ledger: Ledger, units: Int = 1) -> Ledger.Writing? {
    ledger.append(1, bytes: units * LedgerRecord.unit) { _ in [UInt8](repeating: 1, count: units * LedgerRecord.unit) }
  }

  @Test("what is full takes no more, and says so, until the catalogue has what stands in it")
  func halves() throws {
    let ledger = try Ledger(in: directory.path, sequence: 5)
    let all = Ledger.half / LedgerRecord.unit
    let first = try #require(append(ledger, units: all))
    #expect(append(ledger) == nil)
    ledger.end(first)
    func tellsOfGap() -> Bool {
      ledger.batchBegins().contains { change in
        if case .meta(Ledger.gapName, 1) = change { true } else { false }
      }
    }
    #expect(tellsOfGap())
    #expect(!tellsOfGap())
    ledger.batchIsCommitted()
    // The other half; the first is written to again when the catalogue has it.
    let second = try #require(append(ledger, units: all))
    ledger.end(second)
    _ = ledger.batchBegins()
    ledger.batchIsCommitted()
    let third = try #require(append(ledger))
    ledger.end(third)
  }

  @Test("a half is not written to again while somebody has not told the catalogue of what is in it")
  func writers() throws {
    let ledger = try Ledger(in: directory.path, sequence: 0)
    let all = Ledger.half / LedgerRecord.unit
    let slow = try #require(append(ledger, units: all))
    _ = ledger.batchBegins()
    ledger.batchIsCommitted()
    let other = try #require(append(ledger, units: all))
    ledger.end(other)
    _ = ledger.batchBegins()
    ledger.batchIsCommitted()
    #expect(append(ledger) == nil)
    ledger.end(slow)
    _ = ledger.batchBegins()
    ledger.batchIsCommitted()
    let free = try #require(append(ledger))
    ledger.end(free)
  }

  @Test("the half that is not written to is spare once a batch that had all of it is committed, and then once")
  func otherHalf() {
    typealias Row = (
      LedgerHalf, begunWritten: LedgerHalf, begun: LedgerHalf, committed: LedgerHalf, isTaken: Bool, taken: LedgerHalf
    )
    let table: [Row] = [
      (.needed, .needed, .drained, .needed, false, .needed),
      (.drained, .needed, .drained, .spare, false, .drained),
      (.spare, .spare, .spare, .spare, true, .needed),
    ]
    #expect(table.map(\.0) == LedgerHalf.allCases)
    for row in table {
      var (first, second, third, fourth) = (row.0, row.0, row.0, row.0)
      first.batchBegins(isWritten: true)
      second.batchBegins(isWritten: false)
      third.batchIsCommitted()
      #expect(first == row.begunWritten && second == row.begun && third == row.committed)
      #expect(fourth.take() == row.isTaken && fourth == row.taken)
    }
  }

  @Test("a gap is told once")
  func gap() {
    let table: [(LedgerGap, appeared: LedgerGap, isTold: Bool, told: LedgerGap)] = [
      (.none, .found, false, .none), (.found, .found, true, .told), (.told, .told, false, .told),
    ]
    #expect(table.map(\.0) == LedgerGap.allCases)
    for (state, appeared, isTold, told) in table {
      var (first, second) = (state, state)
      first.appeared()
      #expect(first == appeared)
      #expect(second.tell() == isTold && second == told)
    }
  }
}
