import CLinux
import PawlTestKit
import Testing

@testable import PawlObserve

@Suite("Log output") struct LogOutputTests {
  @Test("goes on in a new file after a rotation")
  func rotation() throws {
    let folder = try TemporaryFolder()
    let log = try EventLog(level: .info, destination: .file(path: folder.path + "/log"), nowMilliseconds: { 0 })
    log.log(.info, "first")
    log.flush()
    folder.rename("log", to: "log.1")
    log.log(.info, "second")
    log.flush()
    log.reopen()
    log.log(.info, "third")
    log.flush()
    #expect(
      folder.read("log.1")
        == "1970-01-01T00:00:00.000Z info first\n1970-01-01T00:00:00.000Z info second\n")
    #expect(folder.read("log") == "1970-01-01T00:00:00.000Z info third\n")
  }

  @Test("a pipe that nobody reads is an error at once; with a reader it is written")
  func pipe() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/pipe"
    #expect(mkfifo(path, 0o600) == 0)
    #expect(throws: LogError.self) { _ = try LogOutput(.file(path: path)) }
    let reader = pawl_open(path, O_RDONLY | O_NONBLOCK, 0)
    defer { close(reader) }
    _ = try LogOutput(.file(path: path))
  }

  @Test("goes on in the old file when the new one cannot be opened, and says so")
  func failedRotation() throws {
    let folder = try TemporaryFolder()
    folder.make("sub")
    let log = try EventLog(level: .info, destination: .file(path: folder.path + "/sub/log"), nowMilliseconds: { 0 })
    log.log(.info, "first")
    log.flush()
    folder.rename("sub", to: "moved")
    let told = TestLock<[LogError?]>([])
    log.reopen { failure in told.withLock { $0.append(failure) } }
    while told.withLock({ $0.isEmpty }) { sched_yield() }
    log.log(.info, "second")
    log.flush()
    let why = "cannot open the log \(folder.path)/sub/log: No such file or directory"
    #expect(told.withLock { $0 } == [LogError(path: "\(folder.path)/sub/log", code: ENOENT)])
    #expect(
      folder.read("moved/log") == """
        1970-01-01T00:00:00.000Z info first
        1970-01-01T00:00:00.000Z error event-log-failed why="\(why)"
        1970-01-01T00:00:00.000Z info second

        """)
    folder.make("sub")
    log.reopen { failure in told.withLock { $0.append(failure) } }
    while told.withLock({ $0.count < 2 }) { sched_yield() }
    #expect(told.withLock { $0[1] } == nil && folder.read("sub/log").isEmpty)
  }

  @Test("appends to what is there, and counts what the disk refuses")
  func appends() throws {
    let folder = try TemporaryFolder()
    for _ in 0..<2 {
      let log = try EventLog(level: .info, destination: .file(path: folder.path + "/log"), nowMilliseconds: { 0 })
      log.log(.info, "line")
      log.flush()
    }
    #expect(folder.read("log").split(separator: "\n").count == 2)
    let full = try AccessLog(destination: .file(path: "/dev/full"), format: .json)
    full.write(AccessRecord(time: 0, remote: []))
    full.flush()
    #expect(full.takeDropped() == 1)
  }

  @Test("a line of which the disk took a part stays alone: what is written later begins on a line of its own")
  func torn() {
    var (tear, file, room) = (LogOutput.Tear(), [UInt8](), 8)
    func write(_ text: String) -> Bool {
      Array(text.utf8).withUnsafeBytes { bytes in
        tear.writeAll(bytes) { piece in
          let count = min(room, piece.count)
          file += piece.prefix(count)
          room -= count
          return count
        }
      }
    }
    #expect(write("one\n") && !write("second\n") && tear.isTorn)
    #expect(!write("third\n"))
    room = 100
    #expect(write("fourth\n") && !tear.isTorn)
    #expect(String(decoding: file, as: UTF8.self) == "one\nseco\nfourth\n")
    room = 6
    #expect(!write("fifth\nsixth\n") && !tear.isTorn)
  }
}
