import Testing

@testable import PawlBench

@Suite("A line of /proc/PID/stat") struct ProcessStatusTests {
  @Test("is read whatever the command is called", arguments: ["pawl", "a b", "a) R 9 (b", ""])
  func read(_ name: String) throws {
    let line =
      "42 (\(name)) S 7 42 42 0 -1 4194560 1 2 3 4 150 30 -1 20 20 0 5 0 9001 123 456 18446744073709551615 0 0\n"
    let status = try #require(ProcessStatus(line.utf8))
    #expect(status.parent == 7 && status.user == 150 && status.system == 30)
    #expect(status.reapedUser == 0 && status.reapedSystem == 20)
    #expect(status.started == 9001 && status.residentPages == 456)
  }

  @Test(
    "that is short or holds something else is none",
    arguments: ["", "42 (pawl", "42 (pawl) S 7", "42 (pawl) S x 42 42 0 -1 4194560 1 2 3 4 1 2 3 4 20 0 5 0 9001 1 2"])
  func refused(_ line: String) { #expect(ProcessStatus(line.utf8) == nil) }
}
