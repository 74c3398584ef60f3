import PawlLoop
import Testing

@testable import PawlStore

@Suite("Which run of the kernel, and which mount") struct KernelRunTests {
  @Test("is the same as long as both are; unknown is never the same")
  func unchanged() throws {
    let directory = TestDirectory()
    let database = try Database(path: CatalogueFile.path(in: directory.path), isReader: false)
    try CatalogueSchema.prepare(database, seed: 1)
    let run = try KernelRun(of: directory.path)
    #expect(try !KernelRun.isUnchanged(run, in: database))
    #expect(try KernelRun.isUnchanged(run, in: database) == (run != nil))
    #expect(try !KernelRun.isUnchanged(nil, in: database))
    #expect(try !KernelRun.isUnchanged(nil, in: database))
    #expect(try !KernelRun.isUnchanged(run, in: database))
    #expect(try KernelRun(of: directory.path + "/none") == nil)
  }

  @Test("another mount is another")
  func mounts() throws {
    let (here, other) = (try KernelRun(of: "/"), try KernelRun(of: "/proc"))
    #expect(here == nil || here != other)
  }
}
