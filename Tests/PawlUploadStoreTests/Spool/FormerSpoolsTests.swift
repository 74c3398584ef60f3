import PawlDisk
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlUploadStore

@Suite("Spools that settings do not name any more") struct FormerSpoolsTests {
  private func entry(_ path: String, _ hours: Int64 = 24) -> FormerSpools.Entry {
    FormerSpools.Entry(path: path, expireAfter: .seconds(hours * 3600), maxAge: .seconds(hours * 36_000))
  }

  @Test("what was noted is read again; nothing is left where there is nothing to note")
  func noted() throws {
    let directory = TestDirectory()
    let state = directory.path + "/new/state"
    #expect(try FormerSpools.read(in: state) == [])
    let entries = [entry("/a b/c"), entry("/d", 1)]
    try FormerSpools.write(entries, in: state)
    #expect(try FormerSpools.read(in: state) == entries)
    try FormerSpools.write([entry("/e")], in: state)
    #expect(try FormerSpools.read(in: state) == [entry("/e")])
    try FormerSpools.write([], in: state)
    #expect(try Files.names(in: state).isEmpty)
  }

  @Test("a path that no line can hold, and lines that pawl did not write, are left out")
  func strange() throws {
    let directory = TestDirectory()
    try FormerSpools.write([entry("/a\nb"), entry("/c")], in: directory.path)
    #expect(try FormerSpools.read(in: directory.path) == [entry("/c")])
    let text = "1 2\nx 2 /d\n1 x /d\n1 2 d\n\n3 4 /e\n"
    try TestDirectory.write(Array(text.utf8), to: directory.path + "/former-spools")
    #expect(
      try FormerSpools.read(in: directory.path) == [
        FormerSpools.Entry(path: "/e", expireAfter: .seconds(3), maxAge: .seconds(4))
      ])
  }
}
