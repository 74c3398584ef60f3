import CLinux
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("What content is compared with") struct ReferenceTests {
  @Test("every byte counts, and none beyond the end is right")
  func matches() {
    let reference = Reference(Array("0123456789".utf8))
    func matches(_ text: String, _ offset: UInt64) -> Bool {
      Array(text.utf8).withUnsafeBufferPointer { reference.matches($0, at: offset) }
    }
    #expect(matches("0123456789", 0) && matches("9", 9) && matches("", 10) && matches("", 99))
    #expect(!matches("0123456780", 0) && !matches("89x", 8) && !matches("0", 10) && !matches("0", .max))
  }

  @Test("a file is read whole; a folder or nothing is told")
  func file() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/reference"
    let descriptor = pawl_open(path, O_CREAT | O_WRONLY, 0o600)
    #expect(write(descriptor, "abc", 3) == 3)
    close(descriptor)
    #expect(try Reference(file: path).bytes == Array("abc".utf8))
    #expect(throws: RunProblem("\(folder.path): not a file")) { try Reference(file: folder.path) }
    #expect(throws: RunProblem("\(path)x: No such file or directory")) { try Reference(file: path + "x") }
  }
}
