import CLinux
import PawlCache
import PawlCacheStore
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import PawlUploadStore
import Testing

@testable import PawlServer

/// A whole pawl on 127.0.0.1, in this process, before a scripted origin. Time stands still unless the test moves it.
final class TestServer: @unchecked Sendable {
  // Safe: the properties are shared by design; tests stop the server from one thread.
  let clock = ManualClock()
  let server: Server
  let folder: TemporaryFolder
  private let origin: ScriptedOrigin?
  private let events: EventLog
  private let log: TestLock<[String]>
  private var isStopped = false

  /// What a test changes of the configuration: lines for a section, by the section's label.
  struct Changes {
    var pawl = ""
    /// `nil`: a file that the test reads.
    var accessLog: String?
    var listen = ""
    var cache = "memory-object = 0"
    var cacheSize = "512M"
    /// Whether small bodies go into packs. What comes of one is gathered until time passes, and tests stand still.
    var packs = false
    var upstream = ""
    var site = ""
    var more = ""
  }

  convenience init(
    _ origin: ScriptedOrigin, in folder: TemporaryFolder? = nil, lent: Set<UploadID> = [],
    _ change: (inout Changes) -> Void = { _ in }
  ) throws {
    try self.init(url: "http://127.0.0.1:\(origin.port)", origin: origin, in: folder, lent: lent, change)
  }

  init(
    url: String, origin: ScriptedOrigin? = nil, in folder: TemporaryFolder? = nil, lent: Set<UploadID> = [],
    _ change: (inout Changes) -> Void = { _ in }
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    (self.folder, self.origin) = (folder, origin)
    let log = TestLock<[String]>([])
    self.log = log
    events = EventLog { line in log.withLock { $0.append(line) } }
    server = try Server(Self.configuration(url: url, in: folder, change), events: events, clock: clock) { lent }
  }

  deinit { stop() }

  /// With an answer in memory that is `1` and fresh for so many seconds; the origin's next is `2`.
  static func fresh(for seconds: Int) throws -> TestServer {
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=\(seconds)\r\nContent-Length: 1\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(head + "1"), .readToEnd], [.expectHead, .send(head + "2"), .readToEnd])
    let pawl = try TestServer(origin) { $0.cache = "memory-object = 32K" }
    #expect(pawl.get().text == "1")
    pawl.waitForBodyInMemory()
    return pawl
  }

  /// What this server would be made of with other settings, as a reload finds it.
  func parts(
    in folder: TemporaryFolder, old: ServerParts? = nil, _ site: String, _ more: String = ""
  ) throws -> ServerParts {
    try ServerParts(
      Self.configuration(url: "http://127.0.0.1:1", in: folder) { changes in
        changes.site = site
        changes.more = more
      }, server.services, resolver: server.resolver, old: old)
  }

  static func configuration(
    url: String, in folder: TemporaryFolder, _ change: (inout Changes) -> Void = { _ in }
  ) throws -> PawlConfig.Configuration {
    var changes = Changes()
    change(&changes)
    let text = """
      [pawl]
      state-dir = \(folder.path)
      workers = 1
      access-log = \(changes.accessLog ?? "\(folder.path)/access.log")
      access-log-format = json
      \(changes.pawl)
      [listen:default]
      address = 127.0.0.1:0
      \(changes.listen)
      [cache:default]
      max-size = \(changes.cacheSize)
      min-free = 0
      \(changes.packs || changes.cache.contains("packed-object") ? "" : "packed-object = 0")
      \(changes.cache)
      [upstream:app]
      url = \(url)
      \(changes.upstream)
      [site:default]
      upstream = app
      \(changes.site)
      \(changes.more)
      """
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: false)
    return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
  }

  var port: UInt16 { server.addresses[0].port }

  func connect(receiveBuffer: CInt? = nil) -> ScriptedClient {
    ScriptedClient(port: port, receiveBuffer: receiveBuffer)
  }

  /// One request on a connection of its own.
  func ask(_ request: String) -> Answer {
    let client = connect()
    client.send(request)
    return client.readAnswer(isHead: request.hasPrefix("HEAD "))
  }

  /// A GET with a request id, so that none is made up.
  func get(_ target: String = "/f", _ fields: String...) -> Answer {
    ask(Self.request(target, fields))
  }

  static func request(_ target: String = "/f", _ fields: [String] = []) -> String {
    "GET \(target) HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
  }

  /// Ends the server and the origin, and returns what went against the origin's scripts.
  @discardableResult
  func stop() -> [String] {
    if !isStopped {
      isStopped = true
      server.stop()
    }
    return origin?.finish() ?? []
  }

  /// The event log's lines that tell of `event`, without their time.
  func events(_ event: String) -> [String] {
    events.flush()
    return log.withLock { $0 }.map { String($0.dropFirst(25)) }.filter { "\($0) ".contains(" \(event) ") }
  }

  /// Waits until the event log tells of `event`; a minute without it fails the test.
  func waitFor(_ event: String, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
    waitUntil("\(event) was logged", sourceLocation: sourceLocation) { events(event).count >= count }
  }

  /// Lets the server's threads go on until `condition` holds.
  func waitUntil(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) {
    let start = SystemClock().now()
    while !condition() {
      guard SystemClock().now() - start < .seconds(60) else {
        Issue.record("never: \(what)", sourceLocation: sourceLocation)
        return
      }
      sched_yield()
    }
  }

  /// The access log so far, one line a transfer.
  var accessLog: [String] {
    server.services.accessLog?.flush()
    return folder.read("access.log").split(separator: "\n").map(String.init)
  }

  /// Waits for so many lines of the access log; returns members of the last one.
  func record(_ count: Int, _ members: String..., sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    waitUntil("\(count) lines in the access log", sourceLocation: sourceLocation) { accessLog.count >= count }
    guard accessLog.count >= count else { return [] }
    let line = accessLog[count - 1]
    return members.map { member in
      guard let range = line.firstRange(of: "\"\(member)\":") else { return "" }
      let value = line[range.upperBound...]
      let end = value.firstIndex(of: value.first == "\"" ? "," : ",") ?? value.index(before: value.endIndex)
      return value[..<end].filter { $0 != "\"" && $0 != "}" }
    }
  }
}

extension Answer {
  /// The head with what is random in it (tags pawl made) replaced: `"pawl-#"`.
  var shown: String { maskTags(head.replacing("\r\n", with: "\n")) }
}

/// The date at which tests stand still, as it stands in answers.
let today = "Tue, 14 Nov 2023 22:13:20 GMT"

extension TestServer {
  /// Returns when the server has dealt with all that was sent to it before: it has one loop, which takes what came in
  /// the order of its coming.
  func settle() {
    for _ in 0..<3 { onLoop { _ in } }
  }

  /// Looks at the server's first loop, on it.
  @discardableResult
  func onLoop<R: Sendable>(_ look: @escaping @Sendable (ServerLoop) -> R) -> R? {
    let first = server.loops[0]
    return first.loop.answer { look(first.server.get()) }
  }

  /// As after a write that took a second.
  func expectSlowWrites() {
    onLoop { $0.services.noteWrite(.seconds(1)) }
  }

  /// Every thread of the pool for the disk waits.
  func keepPoolBusy(until gate: Gate) {
    let busy = TestLock(0)
    // More than there are threads: none is left to write.
    for _ in 0..<8 {
      server.services.workers.run {
        busy.withLock { $0 += 1 }
        _ = gate.wait()
      }
    }
    waitUntil("every thread of the pool is busy") { busy.withLock { $0 } == 4 }
  }

  /// What is stored for `http://site` and the target.
  func stored(_ target: String = "/f") -> StoredResponse? {
    let key = CacheKey(authority: Bytes("site"), target: Bytes(target))
    let found = onLoop { loop in
      loop.services.router.all[0].cache?.resource(for: key, create: false)?.withLock { $0.variants.first }
    }
    return found ?? nil
  }

  /// Waits until so many bytes of the target's body are held.
  func waitForHeld(_ count: UInt64, of target: String = "/f", sourceLocation: SourceLocation = #_sourceLocation) {
    waitUntil("\(count) bytes are held", sourceLocation: sourceLocation) { stored(target)?.body.held.count == count }
  }

  func waitForBodyInMemory(sourceLocation: SourceLocation = #_sourceLocation) {
    waitUntil("the body is in memory", sourceLocation: sourceLocation) { stored()?.body.inMemory != nil }
  }

  /// Lets time pass, a quarter of a second at a go, while `work` goes on: for transfers that wait between attempts.
  func advancing<R>(_ work: () -> R) -> R {
    let isOver = TestLock(false)
    let thread = TestThread { [self] in
      while !isOver.withLock({ $0 }) {
        clock.advance(by: .milliseconds(100))
        for _ in 0..<10 { settle() }
      }
    }
    defer {
      isOver.withLock { $0 = true }
      thread.join()
    }
    return work()
  }
}
