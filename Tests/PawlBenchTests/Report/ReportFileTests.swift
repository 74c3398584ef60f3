import CLinux
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Files of reports") struct ReportFileTests {
  @Test("are replaced whole and read whole")
  func roundTrip() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.json"
    try ReportFile.write(String(repeating: "é", count: 100_000), to: path)
    #expect(try ReportFile.read(path).count == 200_000)
    try ReportFile.write("short", to: path)
    #expect(try ReportFile.read(path) == Array("short".utf8))
  }

  @Test("that cannot be read or written are named with the reason")
  func failures() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/none/a.json"
    #expect(throws: ReportError.cannotRead(path: path, reason: "No such file or directory")) {
      try ReportFile.read(path)
    }
    #expect(throws: ReportError.cannotWrite(path: path, reason: "No such file or directory")) {
      try ReportFile.write("", to: path)
    }
    #expect(throws: ReportError.cannotRead(path: folder.path, reason: "Is a directory")) {
      try ReportFile.read(folder.path)
    }
    #expect(throws: ReportError.cannotWrite(path: "/dev/full", reason: "No space left on device")) {
      try ReportFile.write("x", to: "/dev/full")
    }
    #expect(ReportError.cannotRead(path: "a", reason: "b").message == "cannot read a: b")
    #expect(ReportError.cannotWrite(path: "a", reason: "b").message == "cannot write a: b")
    #expect(ReportError.malformed(path: "a", line: 2, column: 3, reason: "b").message == "a:2:3: b")
  }

  @Test("are tried before a run without a change to what they hold")
  func check() throws {
    let folder = try TemporaryFolder()
    folder.write("a.json", "kept")
    try ReportFile.checkWritable(folder.path + "/a.json")
    try ReportFile.checkWritable("-")
    #expect(folder.read("a.json") == "kept")
    #expect(throws: ReportError.self) { try ReportFile.checkWritable(folder.path) }
  }
}
