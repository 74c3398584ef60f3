import CLinux
import PawlDisk
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Trying files and directories") struct FileTrialTests {
  /// A user without rights of its own; `nil` where the tests do not run as root.
  static let nobody = FileUser(named: "nobody", group: nil)

  @Test("a directory that can be made is not made")
  func missing() throws {
    let folder = try TemporaryFolder()
    #expect(FileTrial.problem(ofDirectory: "\(folder.path)/a/b") == nil)
    #expect(FileTrial.problem(ofStateDirectory: "\(folder.path)/a/b") == nil)
    #expect(try Files.names(in: folder.path) == [])
  }

  @Test("a file in the place of a directory, or of one above it, is told")
  func file() throws {
    let folder = try TemporaryFolder()
    close(try Files.open("\(folder.path)/x", O_RDWR | O_CREAT))
    #expect(FileTrial.problem(ofDirectory: "\(folder.path)/x") == "\(folder.path)/x is not a directory")
    #expect(FileTrial.problem(ofStateDirectory: "\(folder.path)/x") == "\(folder.path)/x is not a directory")
    #expect(FileTrial.problem(ofDirectory: "\(folder.path)/x/y") == "\(folder.path)/x/y: Not a directory")
  }

  @Test("lines are appended to a file, or to one that can be made; it is not made")
  func append() throws {
    let folder = try TemporaryFolder()
    #expect(FileTrial.problem(ofAppending: "\(folder.path)/access.log") == nil)
    #expect(try Files.names(in: folder.path) == [])
    close(try Files.open("\(folder.path)/access.log", O_RDWR | O_CREAT))
    #expect(FileTrial.problem(ofAppending: "\(folder.path)/access.log") == nil)
    #expect(FileTrial.problem(ofAppending: folder.path) == "is a directory")
    let problem = FileTrial.problem(ofAppending: "\(folder.path)/none/access.log")
    #expect(problem == "the directory \(folder.path)/none does not exist")
    #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
    #expect(FileTrial.problem(ofAppending: "\(folder.path)/pipe") == "No such device or address")
    #expect(FileTrial.problem(ofAppending: "/dev/null") == nil)
    #expect(FileTrial.problem(ofSocket: "\(folder.path)/x.sock") == nil)
    #expect(
      FileTrial.problem(ofSocket: "\(folder.path)/none/x.sock") == "the directory \(folder.path)/none does not exist")
  }

  @Test("in file systems of the kernel nothing can be made")
  func kernel() {
    let why = "cannot be made: mkdir /proc/pawl-x: No such file or directory"
    #expect(FileTrial.problem(ofDirectory: "/proc/pawl-x/y") == why)
    #expect(FileTrial.problem(ofStateDirectory: "/proc/pawl-x") == why)
  }

  @Test("the process that has a store open is named by the kernel")
  func holder() throws {
    let folder = try TemporaryFolder()
    #expect(FileTrial.holder(of: folder.path) == nil)
    let lock = try DirectoryLock(folder.path)
    #expect(FileTrial.holder(of: folder.path) == Int(getpid()))
    var status = stat()
    #expect(stat("\(folder.path)/lock", &status) == 0)
    let table =
      "1: POSIX  ADVISORY  WRITE 5 08:01:\(status.st_ino) 0 EOF\n2: FLOCK  ADVISORY  WRITE %d 08:01:\(status.st_ino) 0 EOF\n"
    #expect(FileTrial.holder(of: folder.path, table.replacing("%d", with: "7")) == 7)
    #expect(FileTrial.holder(of: folder.path, table.replacing("%d", with: "0")) == nil)
    #expect(FileTrial.holder(of: folder.path, "x\n") == nil)
    lock.release()
  }

  @Test("a store that another process has open is in use, and its lock stays as it is")
  func inUse() throws {
    let folder = try TemporaryFolder()
    #expect(!FileTrial.isInUse(folder.path))
    #expect(try Files.names(in: folder.path) == [])
    let lock = try DirectoryLock(folder.path)
    #expect(FileTrial.isInUse(folder.path))
    lock.release()
    #expect(!FileTrial.isInUse(folder.path))
    #expect(throws: Never.self) { try DirectoryLock(folder.path) }
  }

  @Test("rights are those of the user that pawl runs as", .enabled(if: nobody != nil))
  func rights() throws {
    let user = try #require(Self.nobody)
    let folder = try TemporaryFolder()
    let path = folder.path
    func told(_ body: @escaping () -> String?) -> String? { user.act(body) }
    #expect(chmod(path, 0o755) == 0)
    #expect(told { FileTrial.problem(ofDirectory: "\(path)/a/b") } == "cannot be made: \(path): Permission denied")
    #expect(told { FileTrial.problem(ofDirectory: path) } == "\(path): Permission denied")
    #expect(told { FileTrial.problem(ofStateDirectory: path) } == "\(path): Permission denied")
    #expect(told { FileTrial.problem(ofAppending: "\(path)/x") } == "cannot be made: \(path): Permission denied")
    // What root made in a directory of the user's.
    #expect(chmod(path, 0o777) == 0)
    #expect(told { FileTrial.problem(ofDirectory: path) } == nil)
    close(try Files.open("\(path)/bodies.db", O_RDWR | O_CREAT))
    #expect(told { FileTrial.problem(ofDirectory: path) } == "\(path)/bodies.db: Permission denied")
    #expect(told { FileTrial.problem(ofReading: "\(path)/bodies.db") } == "Permission denied")
    #expect(FileTrial.problem(ofReading: "\(path)/bodies.db") == nil)
    #expect(!FileTrial.isOpenToAll("\(path)/bodies.db"))
    #expect(chmod("\(path)/bodies.db", 0o644) == 0)
    #expect(told { FileTrial.problem(ofReading: "\(path)/bodies.db") } == nil)
    #expect(FileTrial.isOpenToAll("\(path)/bodies.db"))
    // A directory on the way that lets nobody pass.
    #expect(chmod(path, 0o700) == 0)
    #expect(told { FileTrial.problem(ofReading: "\(path)/bodies.db") } == "Permission denied")
    #expect(told { FileTrial.problem(ofDirectory: "\(path)/a") } == "cannot be made: \(path): Permission denied")
    #expect(told { FileTrial.problem(ofReaching: "\(path)/a/b") } == "cannot be made: \(path): Permission denied")
    #expect(chmod(path, 0o711) == 0)
    #expect(told { FileTrial.problem(ofReaching: "\(path)/a/b") } == nil)
  }

  @Test("a supplementary group counts, and afterwards root is root again", .enabled(if: nobody != nil))
  func groups() throws {
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/key.pem"
    #expect(chmod(folder.path, 0o755) == 0)
    close(try Files.open(file, O_RDWR | O_CREAT))
    let group = try #require(getgrnam("daemon")?.pointee.gr_gid)
    #expect(chown(file, 0, group) == 0 && chmod(file, 0o640) == 0)
    let (other, member) = (FileUser(named: "nobody", group: nil), FileUser(named: "nobody", group: "daemon"))
    #expect(other?.act { FileTrial.problem(ofReading: file) } == "Permission denied")
    #expect(member?.act { FileTrial.problem(ofReading: file) ?? "read" } == "read")
    #expect(FileTrial.problem(ofReading: file) == nil)
    #expect(FileUser(named: "no-such-user", group: nil) == nil)
    #expect(FileUser(named: "nobody", group: "no-such-group") == nil)
  }

  @Test("one hundred files of a directory are looked at, and no more", .enabled(if: nobody != nil))
  func most() throws {
    let user = try #require(Self.nobody)
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o777) == 0)
    for number in 101...200 {
      let file = "\(folder.path)/\(number)"
      close(try Files.open(file, O_RDWR | O_CREAT))
      #expect(chmod(file, number == 200 ? 0o600 : 0o666) == 0)
    }
    #expect(user.act { FileTrial.problem(ofDirectory: folder.path) } == "\(folder.path)/200: Permission denied")
    close(try Files.open("\(folder.path)/100", O_RDWR | O_CREAT))
    #expect(chmod("\(folder.path)/100", 0o666) == 0)
    #expect(user.act { FileTrial.problem(ofDirectory: folder.path) } == nil)
  }
}
