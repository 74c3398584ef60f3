import PawlLoop
import Testing

@testable import PawlServer

@Suite("What a request waits for") struct DownloadWaitsTests {
  @Test("another's answer that was its own is waited for once more, and no longer after that")
  func collapsing() {
    let rows: [(Collapsing, cameToNothing: Collapsing)] = [
      (.mayWait, .hasWaited), (.hasWaited, .goesAlone), (.goesAlone, .goesAlone),
    ]
    for row in rows {
      var (first, second) = (row.0, row.0)
      first.cameToNothing()
      second.gaveUp()
      #expect(first == row.cameToNothing && second == .goesAlone)
    }
    #expect(rows.map(\.0) == Collapsing.allCases)
  }

  @Test("patience runs once, and what is over stays over")
  func patience() throws {
    let bench = try ServerBench()
    var count = 0
    func timer() -> LoopTimer {
      count += 1
      return bench.loop.makeTimer {}
    }
    var patience = Patience.unlimited
    #expect(!patience.isOver)
    patience.begin(timer)
    patience.begin(timer)
    #expect(count == 1 && !patience.isOver)
    patience.end()
    patience.begin(timer)
    #expect(count == 1 && patience.isOver)
    var unarmed = Patience.unlimited
    unarmed.end()
    unarmed.begin(timer)
    #expect(count == 1 && unarmed.isOver)
  }
}
