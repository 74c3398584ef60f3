import CLinux
import PawlCache
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Recovery") struct RecoveryTests {
  @Test("foreign files under bodies/ are removed and logged; those with a row stay")
  func orphans() throws {
    let directory = TestDirectory()
    let kept: String
    do {
      let fixture = try StoreFixture(in: directory)
      kept = fixture.path(of: try fixture.store("/a", pattern(10)).body)
    }
    let bodies = directory.path + "/cache/bodies"
    let foreign = [
      "\(bodies)/00/00000000000000000000000000000001", "\(bodies)/00/00000000000000000000000000000002",
      "\(bodies)/ff/README", "\(bodies)/7f/.hidden",
    ]
    for path in foreign { try TestDirectory.write([1, 2, 3], to: path) }
    let fixture = try StoreFixture(in: directory)
    try fixture.settle()
    for path in foreign { #expect(access(path, F_OK) != 0, "\(path)") }
    #expect(access(kept, F_OK) == 0)
    // Of the bodies, one is named a minute.
    #expect(fixture.logged("body-dropped").count == 3)
  }

  @Test("a body whose publication was not recorded before kill -9 leaves nothing behind")
  func unpublished() throws {
    let fixture = try StoreFixture()
    try fixture.settle()
    let body = try fixture.body(total: 100)
    try body.write(pattern(50))
    let copy = try StoreFixture(in: try fixture.directory.copy())
    try copy.settle()
    #expect(copy.logged("body-dropped").count == 1)
    #expect(copy.store.usedBytes == 0)
    #expect(access(fixture.path(of: body), F_OK) == 0)
  }

  @Test("bodies made while the sweep runs are not taken for foreign")
  func concurrentBodies() throws {
    let fixture = try StoreFixture()
    let bodies = try (0..<50).map { _ in try fixture.body(total: 10) }
    try fixture.settle()
    for body in bodies { #expect(access(fixture.path(of: body), F_OK) == 0) }
  }
}
