import PawlLoop
import Testing

@testable import PawlUploadStore

@Suite("What the parts of a spool share") struct SpoolCoreTests {
  @Test("tombstones are forgotten with age, and the oldest beyond their limit")
  func tombstones() throws {
    let core = try UploadFixture().store.core
    let ids = (0..<5).map { _ in UploadID.make() }
    for (time, id) in ids.enumerated() { core.bury(id, at: Int64(time)) }
    #expect(core.takeTombstones(before: 0, limit: 5) == [])
    #expect(core.takeTombstones(before: 1, limit: 4) == [ids[0]])
    #expect(Set(core.takeTombstones(before: 2, limit: 2)) == [ids[1], ids[2]])
    #expect(ids.map { core.isTombstone($0) } == [false, false, false, true, true])
  }
}
