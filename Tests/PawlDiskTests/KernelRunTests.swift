import CLinux
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlDisk

@Suite("Which run of the kernel, and which mount") struct KernelRunTests {
  @Test("is the same as long as both are; unknown is never the same")
  func unchanged() throws {
    let directory = TestDirectory()
    let file = directory.path + "/catalogue.sqlite"
    let database = try Database(path: file, isReader: false)
    #expect(try CatalogueSchema.prepare(database, tables: TestChanges.tables, version: 1))
    let run = try KernelRun(of: directory.path, file: file)
    #expect(try !KernelRun.isUnchanged(run, in: database))
    #expect(try KernelRun.isUnchanged(run, in: database) == (run != nil))
    #expect(try !KernelRun.isUnchanged(nil, in: database))
    #expect(try !KernelRun.isUnchanged(nil, in: database))
    #expect(try !KernelRun.isUnchanged(run, in: database))
    #expect(try KernelRun(of: directory.path + "/none", file: file) == nil)
    #expect(try KernelRun(of: directory.path, file: directory.path + "/none") == nil)
  }

  @Test("another mount is another")
  func mounts() throws {
    let (here, other) = (try KernelRun(of: "/", file: "/"), try KernelRun(of: "/proc", file: "/proc"))
    #expect(here == nil || here != other)
  }

  @Test("a copy is another, and so is one whose catalogue was put back from a copy")
  func copies() throws {
    let directory = TestDirectory()
    let file = directory.path + "/f"
    try TestDirectory.write([1], to: file)
    let first = try KernelRun(of: directory.path, file: file)
    let copy = try directory.copy()
    #expect(try first == nil || KernelRun(of: copy.path, file: copy.path + "/f") != first)
    try TestDirectory.write([1], to: directory.path + "/g")
    rename(directory.path + "/g", file)
    #expect(try first == nil || KernelRun(of: directory.path, file: file) != first)
  }
}
