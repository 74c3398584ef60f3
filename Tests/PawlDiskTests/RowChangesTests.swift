import Testing

@testable import PawlDisk

@Suite("Changes of rows") struct RowChangesTests {
  @Test("of several lists only the last change of each subject is kept, in its place")
  func compacts() {
    let lists: [any RowChanges] = [
      TestChanges("a", 1), TestChanges("bb", 2), TestChanges("a", 3), TestChanges("bb", 4),
    ]
    let kept = lists.compacted().compactMap { $0 as? TestChanges }
    #expect(kept.map(\.count) == [1, 1])
    #expect(kept.flatMap { $0.list.map(\.value) } == [3, 4])
  }
}
