import Testing

@testable import PawlUploadStore

@Suite("The file of an upload") struct UploadFileStateTests {
  @Test("is another's once it is freed, unless it was opened anew; it is freed once")
  func life() {
    let states: [(UploadFileState, reopened: UploadFileState, freed: Bool?)] = [
      (.own, .reopened, true), (.reopened, .reopened, false), (.freed, .freed, nil),
    ]
    for (state, reopened, freed) in states {
      var (first, second) = (state, state)
      first.wasReopened()
      #expect(first == reopened)
      #expect(second.wasFreed() == freed && second == .freed)
    }
  }

  @Test("an upload is made once its first row is on record; a row is new once")
  func making() {
    let states: [(UploadMaking, isNew: Bool, taken: UploadMaking, isPossible: Bool, made: UploadMaking)] = [
      (.new, true, .inserted, false, .new), (.inserted, false, .inserted, true, .made),
      (.made, false, .made, false, .made),
    ]
    for (state, isNew, taken, isPossible, made) in states {
      var (first, second) = (state, state)
      #expect(first.rowTaken() == isNew && first == taken)
      #expect(second.wasMade() == isPossible && second == made)
    }
  }

  private func waiter(_ target: UInt64, isAhead: Bool = false) -> SyncWaiter {
    SyncWaiter(target: target, isAhead: isAhead, then: { _ in })
  }

  @Test("one sync at a time: who comes during it joins it")
  func joining() {
    var syncing = UploadSyncing.idle
    #expect(syncing.join(waiter(1)) == true)
    #expect(syncing.isRunning && !syncing.join(waiter(2)) && !syncing.begin())
    #expect(syncing.end().map(\.target) == [1, 2])
    #expect(!syncing.isRunning && syncing.end().isEmpty)
    #expect(syncing.begin() && syncing.isRunning && !syncing.join(waiter(3)))
  }

  @Test("a sync goes on while somebody waits for more than it has covered")
  func rounds() {
    var syncing = UploadSyncing.idle
    _ = syncing.join(waiter(10))
    _ = syncing.join(waiter(20))
    let first = syncing.satisfied { $0.target <= 10 }
    #expect(first.satisfied.map(\.target) == [10] && !first.isLast && syncing.isRunning)
    let second = syncing.satisfied { $0.target <= 20 }
    #expect(second.satisfied.map(\.target) == [20] && second.isLast && !syncing.isRunning)
  }

  @Test("where bytes go, who waited for them waits for what is left")
  func goingBack() {
    var syncing = UploadSyncing.idle
    syncing.goBack(to: 5)
    #expect(!syncing.isRunning)
    _ = syncing.join(waiter(3))
    _ = syncing.join(waiter(9, isAhead: true))
    syncing.goBack(to: 5)
    let waiters = syncing.end()
    #expect(waiters.map(\.target) == [3, 5] && waiters.map(\.isAhead) == [false, true])
  }
}
