import CLinux
import PawlCache
import PawlCacheStore
import PawlConfig
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import PawlUpstream
import Testing

@testable import PawlServer

/// The parts of a server on a loop that turns on the test's own thread; nobody connects to it.
final class ServerBench {
  let running: TestServer
  let loop: EventLoop
  let serverLoop: ServerLoop
  var services: LoopServices { serverLoop.services }
  var downloads: LoopDownloads { serverLoop.downloads }
  let store: CacheStore
  let route: RouteSettings
  private let folder: TemporaryFolder
  private let parts: ServerParts

  init(url: String = "http://127.0.0.1:1", _ change: (inout TestServer.Changes) -> Void = { _ in }) throws {
    running = try TestServer(url: "http://127.0.0.1:1", change)
    loop = try EventLoop(index: 7, clock: running.clock)
    folder = try TemporaryFolder()
    parts = try ServerParts(
      TestServer.configuration(url: url, in: folder, change), running.server.services,
      resolver: running.server.resolver, old: nil)
    let router = parts.router
    serverLoop = ServerLoop(loop: loop, server: running.server, router: router)
    route = router.all[0]
    store = try #require(route.cache)
  }

  deinit { parts.closeStores() }

  var cacheDirectory: String { "\(folder.path)/cache" }

  /// Turns the loop until `condition` holds; ten seconds without it fail the test.
  func turn(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let start = SystemClock().now()
    let timer = TestLock(false)
    let watchdog = TestThread { [loop] in
      while !timer.withLock({ $0 }), SystemClock().now() - start < .seconds(10) {
        usleep(2000)
        loop.run {}
      }
    }
    loop.turn { !condition() && SystemClock().now() - start < .seconds(10) }
    timer.withLock { $0 = true }
    watchdog.join()
    #expect(condition(), "what the test waits for did not come", sourceLocation: sourceLocation)
  }

  /// Moves the time on, and lets the loop notice.
  func pass(_ time: Duration) {
    running.clock.advance(by: time)
    var turns = 0
    turn {
      turns += 1
      return turns > 3
    }
  }

  func request(
    _ method: PawlHTTP.Method = .get, _ target: String = "/f", _ fields: [(FieldName, String)] = [],
    authority: String = "site", framing: BodyFraming = .none, isTrusted: Bool = false, version: HTTPVersion = .http11
  ) -> IncomingRequest {
    var head = RequestHead(
      method: method, target: Bytes(target), authority: Bytes(authority), version: version, framing: framing)
    for (name, value) in fields { head.fields.append(name, value) }
    return IncomingRequest(
      head: head, route: serverLoop.services.router.route(authority: head.authority, target: head.target) ?? route,
      loop: services,
      facts: ClientFacts(client: SocketAddress.parse("192.0.2.9:4711"), isTrusted: isTrusted, port: 8080),
      requestID: Array("made-up".utf8), isRouted: true, record: TransferRecord(began: loop.now))
  }

  /// A stored 200 whose body holds the first `held` bytes of ``OriginStep/pattern(from:count:)``.
  func stored(
    total: UInt64? = 10, held: Int? = nil, tags: [TagRecord] = [TagRecord(tag: Array("a".utf8))],
    status: Int = 200, _ fields: [(FieldName, String)] = []
  ) throws -> StoredResponse {
    let body = try #require(self.body(total: total))
    for tag in tags { body.addTag(tag) }
    var response = ResponseHead(status: status)
    for (name, value) in fields { response.fields.append(name, value) }
    let now = running.clock.wallSeconds()
    let head = StoredHead(
      request: request().head, response: response, requestTime: now, responseTime: now, asksIdentity: true)
    let stored = StoredResponse(head: head, body: body, storedAt: now)
    let resource = try #require(
      store.resource(for: CacheKey(authority: Bytes("site"), target: Bytes("/f")), create: true))
    store.publish(stored, in: resource)
    let count = held ?? Int(total ?? 10)
    let bytes = OriginStep.pattern(from: 0, count: count)
    var failure: StoreError?
    bytes.withUnsafeBytes { bytes in
      do throws(StoreError) { try body.write(bytes, at: 0) } catch { failure = error }
    }
    if let failure { throw failure }
    if let total, UInt64(count) == total { _ = body.complete() }
    return stored
  }

  private func body(total: UInt64?) -> StoredBody? {
    var made: StoredBody??
    store.createBody(expected: total, total: total, on: loop) { made = .some($0) }
    loop.turn { made == nil }
    return made ?? nil
  }
}

extension Server {
  var loopEvents: EventLog { events }
}

extension Fields {
  init(_ lines: [(FieldName, String)]) {
    self.init()
    for (name, value) in lines { append(name, value) }
  }
}
