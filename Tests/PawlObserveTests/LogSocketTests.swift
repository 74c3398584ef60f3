import CLinux
import PawlBase
import PawlTestKit
import Testing

@testable import PawlObserve

/// A daemon that takes log messages at a local socket.
final class MessageReceiver {
  private let socket: CInt
  let path: String

  init(at path: String, waiting seconds: Int = 10) {
    self.path = path
    socket = CLinux.socket(AF_UNIX, pawl_datagramSocket, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        pawl_bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    #expect(isBound)
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  func close() {
    _ = CLinux.close(socket)
    unlink(path)
  }

  /// The next message; empty if none comes.
  func next() -> String {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let count = recv(socket, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
  }
}

@Suite("Log socket") struct LogSocketTests {
  private static func log(_ destination: LogDestination) throws -> EventLog {
    try EventLog(level: .debug, destination: destination, nowMilliseconds: { 1_795_255_200_123 })
  }

  @Test("takes each event to syslog as one message, without time and level, which the header has")
  func syslog() throws {
    let folder = try TemporaryFolder()
    let daemon = MessageReceiver(at: folder.path + "/log")
    let header = SyslogHeader(.rfc5424, .local3, host: "web1", process: 7)
    let log = try Self.log(.syslog(path: daemon.path, header))
    log.log(.warning, "node-down", ["upstream": "app", "why": "two words"])
    log.log(.notice, "node-up", ["upstream": "app"])
    #expect(
      daemon.next()
        == "<156>1 2026-11-21T10:00:00.123Z web1 pawl 7 node-down - node-down upstream=app why=\"two words\"")
    #expect(daemon.next() == "<157>1 2026-11-21T10:00:00.123Z web1 pawl 7 node-up - node-up upstream=app")
  }

  @Test("takes each event to the journal with a field for each value")
  func journal() throws {
    let folder = try TemporaryFolder()
    let daemon = MessageReceiver(at: folder.path + "/log")
    let log = try Self.log(.journal(path: daemon.path))
    log.log(.error, "upload-given-up", ["upload": "u1", "last-error": "a=b"])
    #expect(
      daemon.next() == """
        MESSAGE=upload-given-up upload=u1 last-error="a=b"
        PRIORITY=3
        SYSLOG_IDENTIFIER=pawl
        PAWL_EVENT=upload-given-up
        PAWL_UPLOAD=u1
        PAWL_LAST_ERROR=a=b

        """)
  }

  @Test("takes lines of the access log, too")
  func access() throws {
    let folder = try TemporaryFolder()
    let daemon = MessageReceiver(at: folder.path + "/log")
    let header = SyslogHeader(.rfc5424, .daemon, host: "web1", process: 7)
    let log = try AccessLog(
      destination: .syslog(path: daemon.path, header), format: .custom(try AccessFormat("$status $uri")))
    log.write(AccessRecords.record())
    #expect(daemon.next() == "<30>1 2026-11-21T10:00:00.123Z web1 pawl 7 access - 200 /a/b")
    let journal = try AccessLog(
      destination: .journal(path: daemon.path), format: .custom(try AccessFormat("$status $uri")))
    journal.write(AccessRecords.record())
    #expect(
      daemon.next().hasPrefix(
        "MESSAGE=200 /a/b\nPRIORITY=6\nSYSLOG_IDENTIFIER=pawl\nPAWL_EVENT=access\nPAWL_REMOTE=192.0.2.1\n"))
  }

  @Test("connects again when the daemon was restarted; what was logged meanwhile is counted")
  func restart() throws {
    let folder = try TemporaryFolder()
    let first = MessageReceiver(at: folder.path + "/log")
    let log = try Self.log(.syslog(path: first.path, SyslogHeader(.rfc5424, .daemon, host: "h", process: 1)))
    log.log(.info, "one")
    #expect(first.next().hasSuffix(" one"))
    first.close()
    log.log(.info, "two")
    log.flush()
    let second = MessageReceiver(at: folder.path + "/log")
    log.log(.info, "three")
    #expect(second.next().hasSuffix(" log-lines-dropped - log-lines-dropped count=1"))
    #expect(second.next().hasSuffix(" three"))
  }

  @Test("a message that is too large for syslog is counted; the next one arrives")
  func tooLarge() throws {
    let folder = try TemporaryFolder()
    let daemon = MessageReceiver(at: folder.path + "/log")
    let log = try Self.log(.syslog(path: daemon.path, SyslogHeader(.rfc5424, .daemon, host: "h", process: 1)))
    log.log(.info, "large", ["text": String(repeating: "x", count: 900_000)])
    log.flush()
    log.log(.info, "small")
    #expect(daemon.next().hasSuffix(" log-lines-dropped count=1"))
    #expect(daemon.next().hasSuffix(" small"))
  }

  @Test("cannot be made where no daemon listens")
  func nobody() {
    #expect(throws: LogError(path: "/nonexistent/log", code: ENOENT)) {
      try EventLog(level: .info, destination: .journal(path: "/nonexistent/log"))
    }
    let long = "/" + String(repeating: "x", count: 120)
    #expect(throws: LogError(path: long, code: ENAMETOOLONG)) {
      try EventLog(level: .info, destination: .journal(path: long))
    }
  }
}
