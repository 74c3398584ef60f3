import PawlStoreTestKit
import Testing

@testable import PawlDisk

@Suite("DirectoryLock")
struct DirectoryLockTests {
  let folder = TestDirectory()
  var path: String { folder.path + "/store" }

  @Test("a directory has one lock at a time")
  func exclusive() throws {
    let first = try DirectoryLock(path)
    #expect(throws: StoreError.inUse(path: path)) { try DirectoryLock(path) }
    first.release()
    _ = try DirectoryLock(path)
  }

  @Test("a lock whose process has announced its end is about to be released, until it is")
  func announced() throws {
    #expect(!DirectoryLock.isAboutToBeReleased(path), "no directory")
    let first = try DirectoryLock(path)
    #expect(!DirectoryLock.isAboutToBeReleased(path), "no end announced")
    first.announceEnd()
    #expect(DirectoryLock.isAboutToBeReleased(path))
    first.release()
    #expect(!DirectoryLock.isAboutToBeReleased(path), "released")
  }

  @Test("what an earlier process announced does not count for the next one")
  func forgotten() throws {
    let first = try DirectoryLock(path)
    first.announceEnd()
    first.release()
    let second = try DirectoryLock(path)
    #expect(!DirectoryLock.isAboutToBeReleased(path))
    second.release()
  }
}
