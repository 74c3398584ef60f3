import PawlBase
import PawlConfig
import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

/// An admin interface on 127.0.0.1 and on a unix socket, with the token `0123456789abcdef`.
final class AdminBench: AdminActions, @unchecked Sendable {
  // Safe: tests change it before they ask.
  static let token = "Authorization: Bearer 0123456789abcdef"

  let folder: TemporaryFolder
  let shared: SharedServices
  private(set) var server: AdminServer?
  private let log = TestLock<[String]>([])
  let configuration: PawlConfig.Configuration
  /// What ``picture()`` returns.
  var shown: ServerPicture
  var outcome = ReloadOutcome(isApplied: true)
  var whyNoUpgrade: String?
  /// What the interface had the process do.
  let done = TestLock<[String]>([])

  func picture() -> ServerPicture { shown }
  func reload(_ then: @escaping @Sendable (ReloadOutcome) -> Void) { then(outcome) }
  func end(isNow: Bool) { done.withLock { $0.append(isNow ? "end now" : "end") } }
  func upgrade(_ then: @escaping @Sendable (String?) -> Void) { then(whyNoUpgrade) }
  /// Why the logs cannot be opened again.
  var whyNotReopened: [String] = []
  func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void) {
    done.withLock { $0.append("reopen") }
    then(whyNotReopened)
  }
  /// What ``metrics()`` returns.
  var measured = MetricsSnapshot()
  func metrics() -> MetricsSnapshot { measured }
  var transferSources: [TransferSource] { [] }

  init(_ lines: String = "") throws {
    let (folder, log) = (try TemporaryFolder(), log)
    self.folder = folder
    let events = EventLog { line in log.withLock { $0.append(String(line.dropFirst(25))) } }
    shared = SharedServices(events: events, accessLog: nil, clock: SystemClock())
    let configuration = try TestServer.configuration(url: "http://127.0.0.1:1", in: folder) { changes in
      changes.more = """
        [admin]
        listen = 127.0.0.1:0, unix:\(folder.path)/a.sock
        token = 0123456789abcdef
        \(lines)
        """
    }
    self.configuration = configuration
    shown = ServerPicture(configuration: configuration, startedAt: 1_700_000_000)
    shown.urls = ["http://127.0.0.1:80"]
    server = try AdminServer(configuration, shared, actions: self)
  }

  deinit { stop() }

  var port: UInt16 { server?.addresses.first { !$0.isUnix }?.port ?? 0 }
  var events: [String] {
    shared.events.flush()
    return log.withLock { $0 }
  }

  func stop() {
    guard let server = take(&server) else { return }
    server.stop()
    shared.stop()
  }

  func ask(_ request: String) -> Answer {
    let client = ScriptedClient(port: port)
    client.send(request)
    return client.readAnswer(isHead: request.hasPrefix("HEAD "))
  }

  /// A request over TCP with the token.
  func ask(_ method: String, _ target: String, _ content: String? = nil) -> Answer {
    let length = content.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
    return ask(
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r\r\n\(Self.token)\r\n\(length)\r\n\(content ?? "")"
    )
  }
}
