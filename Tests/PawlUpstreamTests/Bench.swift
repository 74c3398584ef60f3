import PawlHTTP
import PawlLoop
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlUpstream

/// A loop that turns on the test's own thread, an upstream of scripted origins and the loop's pool.
struct Bench {
  static let resolver = Resolver(threads: 1)

  let loop: EventLoop
  let upstream: Upstream
  let pool: OriginPool

  init(
    _ origins: ScriptedOrigin..., clock: any LoopClock = SystemClock(), resolver: Resolver = Bench.resolver,
    tls: TLSClientContext? = nil, reports: TestLock<[ProxyError]>? = nil,
    settings change: (inout UpstreamSettings) -> Void = { _ in }
  ) throws {
    var settings = UpstreamSettings(
      name: "test",
      urls: origins.isEmpty ? [UpstreamURL(host: "127.0.0.1", port: 1)] : origins.map(UpstreamURL.init))
    change(&settings)
    loop = try EventLoop(index: 0, clock: clock)
    upstream = Upstream(
      settings, resolver: resolver, tls: tls, report: { error in reports?.withLock { $0.append(error) } })
    pool = OriginPool(upstream: upstream, loop: loop)
  }

  /// Turns the loop until `condition` holds; ten seconds without it fail the test.
  func turn(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let gate = Gate()
    let isTooLate = TestLock(false)
    let watchdog = TestThread { [loop] in
      guard !gate.wait() else { return }
      isTooLate.withLock { $0 = true }
      loop.run {}
    }
    loop.turn { !condition() && !isTooLate.withLock { $0 } }
    gate.open()
    watchdog.join()
    #expect(!isTooLate.withLock { $0 }, "what the test waits for did not come", sourceLocation: sourceLocation)
  }

  /// Turns the loop until a script opens the gate, which by itself wakes no loop.
  func turn(untilOpen gate: Gate) {
    let isOpen = TestLock(false)
    let waiting = TestThread { [loop] in
      if gate.wait() { isOpen.withLock { $0 = true } }
      loop.run {}
    }
    turn { isOpen.withLock { $0 } }
    waiting.join()
  }

  /// Turns the loop once, without waiting for anything.
  func turnOnce() {
    var turns = 0
    loop.nextTurn {}
    loop.turn {
      turns += 1
      return turns == 1
    }
  }

  @discardableResult
  func start(_ request: OriginRequest, _ recorder: ExchangeRecorder) -> OriginExchange {
    pool.start(request, delegate: recorder)
  }

  /// Runs one exchange to its end.
  func run(
    _ request: OriginRequest, sourceLocation: SourceLocation = #_sourceLocation,
    react: @escaping (ExchangeRecorder.Event, OriginExchange) -> Void = { _, _ in }
  ) -> ExchangeRecorder {
    let recorder = ExchangeRecorder()
    recorder.react = react
    start(request, recorder)
    turn(until: { recorder.isOver }, sourceLocation: sourceLocation)
    return recorder
  }
}

extension UpstreamURL {
  init(_ origin: ScriptedOrigin) {
    self.init(host: origin.host, port: origin.port, isUnix: !origin.unixPath.isEmpty)
  }
}

extension OriginRequest {
  static func get(_ target: String = "/", use: OriginUse = .passThrough) -> OriginRequest {
    request(.get, target, .none, use: use)
  }

  static func request(
    _ method: PawlHTTP.Method, _ target: String = "/", _ framing: BodyFraming = .none, use: OriginUse = .passThrough,
    isUpgrade: Bool = false
  ) -> OriginRequest {
    OriginRequest(
      head: RequestHead(method: method, target: Bytes(target), authority: Bytes("site"), framing: framing),
      use: use, isUpgrade: isUpgrade)
  }
}

extension OriginExchange {
  @discardableResult
  func send(_ text: String) -> Bool {
    var bytes = Array(text.utf8)
    return bytes.withUnsafeMutableBytes { sendBody(UnsafeRawBufferPointer($0)) }
  }
}

/// The head that ``OriginRequest/get(_:use:)`` becomes.
func getHead(_ target: String = "/") -> String { "GET \(target) HTTP/1.1\r\nHost: site\r\n\r\n" }

let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
