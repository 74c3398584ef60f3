import CLinux
import PawlConfig
import PawlDisk
import PawlTestKit
import Testing

@testable import PawlServer

/// Tests that need root, as the giving does.
@Suite("Log files that root gives to the user", .enabled(if: FileTrialTests.nobody != nil)) struct LogFilesTests {
  private var user: FileUser { get throws { try #require(FileTrialTests.nobody) } }

  /// A directory where only root can put anything, on the way to it, too: not in /tmp.
  private func folder() throws -> String {
    var template = Array("/var/lib/pawl-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(chmod(path, 0o755) == 0)
    return path
  }

  private func owner(_ path: String) -> uid_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_uid : nil
  }

  @Test("one that is missing or root's own is given; the user's own, links and others' files are not")
  func give() throws {
    let path = try folder()
    defer {
      for name in ["a.log", "b.log", "c.log", "d.log", "e.log"] { unlink("\(path)/\(name)") }
      rmdir(path)
    }
    let account = try #require(try user.account)
    close(try Files.open("\(path)/b.log", O_RDWR | O_CREAT))
    #expect(symlink("/etc/passwd", "\(path)/c.log") == 0)
    close(try Files.open("\(path)/d.log", O_RDWR | O_CREAT))
    #expect(chown("\(path)/d.log", 1, 1) == 0)
    #expect(link("\(path)/b.log", "\(path)/e.log") == 0)
    #expect(try LogFiles.canBeGiven("\(path)/a.log", to: user))
    #expect(try !LogFiles.canBeGiven("\(path)/b.log", to: user), "it has a second name")
    unlink("\(path)/e.log")
    #expect(try LogFiles.canBeGiven("\(path)/b.log", to: user))
    #expect(try !LogFiles.canBeGiven("\(path)/c.log", to: user))
    #expect(try !LogFiles.canBeGiven("\(path)/d.log", to: user))
    #expect(!LogFiles.canBeGiven("\(path)/a.log", to: .own))
    var settings = ProcessSettings(stateDirectory: path)
    settings.user = "nobody"
    (settings.log, settings.accessLog) = (.file(path: "\(path)/a.log"), .file(path: "\(path)/b.log"))
    LogFiles.give(settings)
    #expect(owner("\(path)/a.log") == account.user && owner("\(path)/b.log") == account.user)
    #expect(try !LogFiles.canBeGiven("\(path)/a.log", to: user), "the user can open it")
    #expect(LogFiles.asUser(settings) { access("\(path)/a.log", F_OK) == 0 && open(asUser: "\(path)/d.log") < 0 })
  }

  private func open(asUser path: String) -> CInt { pawl_open(path, O_WRONLY, 0) }

  @Test("nothing is given in a directory into which others can put links")
  func others() throws {
    let path = try folder()
    defer { rmdir(path) }
    #expect(chmod(path, 0o775) == 0)
    #expect(try !LogFiles.canBeGiven("\(path)/a.log", to: user))
    #expect(chmod(path, 0o700) == 0)
    #expect(try !LogFiles.canBeGiven("\(path)/a.log", to: user), "the user cannot come there")
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o755) == 0)
    #expect(try !LogFiles.canBeGiven("\(folder.path)/a.log", to: user), "/tmp is everybody's")
  }
}
