import PawlObserve
import Synchronization
import Testing

@Suite("Event log") struct EventLogTests {
  /// Lines as they arrive.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private static func makeLog(_ lines: Lines, level: LogLevel = .debug) -> EventLog {
    EventLog(level: level, nowMilliseconds: { 1_795_255_200_123 }, sink: { lines.append($0) })
  }

  @Test("writes time, level, event and pairs in order")
  func line() {
    let lines = Lines()
    let log = Self.makeLog(lines)
    log.log(.notice, "origin-resumed", ["upstream": "app", "target": "/x", "at": "123"])
    log.log(.debug, "nothing-more")
    log.flush()
    #expect(
      lines.all == [
        "2026-11-21T10:00:00.123Z notice origin-resumed upstream=app target=/x at=123",
        "2026-11-21T10:00:00.123Z debug nothing-more",
      ])
  }

  @Test(
    "quotes what is not plain",
    arguments: [
      ("plain-1.2:3/4%20", "plain-1.2:3/4%20"), ("", "\"\""), ("two words", "\"two words\""), ("a=b", "\"a=b\""),
      ("say \"x\"", "\"say \\\"x\\\"\""), ("back\\slash", "\"back\\\\slash\""), ("a\r\nb\tc", "\"a\\r\\nb\\tc\""),
      ("\u{0}\u{1b}\u{7f}", "\"\\x00\\x1b\\x7f\""), ("größer", "\"größer\""),
    ])
  func quotes(_ value: String, _ expected: String) {
    let lines = Lines()
    let log = Self.makeLog(lines)
    log.log(.info, "e", ["k": value])
    log.flush()
    #expect(lines.all == ["2026-11-21T10:00:00.123Z info e k=\(expected)"])
  }

  @Test("is silent below its level, and does not compute what it would say")
  func levels() {
    let lines = Lines()
    let log = Self.makeLog(lines, level: .warning)
    let evaluations = Mutex(0)
    func value(_ text: String) -> String {
      evaluations.withLock { $0 += 1 }
      return text
    }
    for level in LogLevel.allCases { log.log(level, "e", ["k": value("v")]) }
    log.flush()
    #expect(lines.all.map { $0.split(separator: " ")[1] } == ["warning", "error"])
    #expect(evaluations.withLock { $0 } == 2)
    #expect(log.isEnabled(.error) && !log.isEnabled(.notice))
  }

  @Test("keeps every line of many threads whole")
  func threads() async {
    let lines = Lines()
    let log = Self.makeLog(lines)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { for number in 0..<200 { log.log(.info, "e", ["task": "\(task)", "number": "\(number)"]) } }
      }
    }
    log.flush()
    #expect(Set(lines.all).count == 1600)
  }

  @Test("names a file it cannot open")
  func unopenable() throws {
    let error = try #require(throws: LogError.self) {
      try EventLog(level: .info, destination: .file(path: "/nonexistent/directory/log"))
    }
    #expect(error.path == "/nonexistent/directory/log")
    #expect(error.description.contains("No such file or directory"))
  }

  @Test("takes another level while it is in use")
  func newLevel() {
    let lines = Lines()
    let log = Self.makeLog(lines, level: .warning)
    log.log(.info, "one")
    log.level = .info
    log.log(.info, "two")
    log.level = .error
    log.log(.warning, "three")
    log.flush()
    #expect(log.level == .error)
    #expect(lines.all == ["2026-11-21T10:00:00.123Z info two"])
  }

  @Test("goes on at another destination; what cannot be opened changes nothing")
  func redirect() throws {
    let (first, second) = (Lines(), Lines())
    let log = Self.makeLog(first)
    log.log(.info, "one")
    log.flush()
    #expect(throws: LogError.self) { try EventLog.Sink(.file(path: "/nonexistent/directory/log")) }
    log.log(.info, "two")
    log.flush()
    log.redirect(
      to: try EventLog.Sink(
        .closure { bytes in second.append(String(decoding: bytes.dropLast(), as: UTF8.self)) }))
    log.log(.info, "three")
    log.flush()
    #expect(first.all.map { $0.split(separator: " ")[2] } == ["one", "two"])
    #expect(second.all == ["2026-11-21T10:00:00.123Z info three"])
  }
}
