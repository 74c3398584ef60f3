import Testing

@testable import PawlLoop

@Suite("How many connections are accepted in a turn") struct AcceptPaceTests {
  @Test("one at a time is asked for one at a time, and now and then for one more")
  func single() {
    var pace = AcceptPace()
    for _ in 1..<AcceptPace.patience {
      pace.tookAll()
      #expect(pace.batch == 1)
    }
    pace.tookAll()
    #expect(pace.batch == 2)
    pace.foundNone(after: 1)
    #expect(pace.batch == 1)
  }

  @Test("a flood is taken in ever larger batches, up to the limit")
  func flood() {
    var pace = AcceptPace()
    for _ in 0..<AcceptPace.patience { pace.tookAll() }
    var batches = [pace.batch]
    for _ in 0..<6 {
      pace.tookAll()
      batches.append(pace.batch)
    }
    #expect(batches == [2, 4, 8, 16, 32, 64, 64] && AcceptPace.most == 64)
  }

  @Test("where none was left, as many are expected next time as there were", arguments: [(0, 1), (1, 1), (3, 3)])
  func fewer(_ count: Int, _ expected: Int) {
    var pace = AcceptPace()
    for _ in 0..<AcceptPace.patience + 3 { pace.tookAll() }
    pace.foundNone(after: count)
    #expect(pace.batch == expected)
  }
}
