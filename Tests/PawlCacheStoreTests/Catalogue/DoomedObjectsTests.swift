import Testing

@testable import PawlCacheStore

@Suite("Objects on their way out") struct DoomedObjectsTests {
  @Test("are remembered until the catalogue has forgotten them")
  func recorded() {
    var doomed = DoomedObjects()
    #expect(doomed.insert(1).inserted && !doomed.insert(1).inserted && doomed.contains(1))
    doomed.noteRecorded(1)
    #expect(!doomed.contains(1))
    doomed.insert(2)
    doomed.remove(2)
    #expect(!doomed.contains(2))
  }

  @Test("are remembered while somebody may still see them in an older view of the catalogue")
  func rounds() {
    var doomed = DoomedObjects()
    doomed.beginRound()
    doomed.insert(1)
    doomed.beginRound()
    doomed.noteRecorded(1)
    doomed.endRound()
    #expect(!doomed.insert(1).inserted)
    doomed.endRound()
    #expect(!doomed.contains(1))
  }
}
