import CLinux
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Files of /proc") struct ProcessFilesTests {
  @Test("are read as far as they are there")
  func reads() throws {
    #expect(ProcessFiles.text(of: "/proc/self/stat").hasPrefix("\(getpid()) "))
    #expect(ProcessFiles.text(of: "/proc/none") == "")
    #expect(ProcessFiles.names(in: "/proc/self").contains("fd"))
    #expect(ProcessFiles.names(in: "/proc/none") == [])
    let folder = try TemporaryFolder()
    let long = "/" + String(repeating: "x", count: 200)
    #expect(symlink(long, "\(folder.path)/link") == 0)
    #expect(ProcessFiles.target("\(folder.path)/link") == long)
    #expect(ProcessFiles.target(folder.path) == "")
  }
}
