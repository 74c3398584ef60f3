import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("An upstream that several loops share") struct UpstreamTests {
  /// A loop on a thread of its own with its pool, and what its exchanges said.
  private final class Side: Sendable {
    let loop: EventLoop
    let thread: TestThread
    let pool: LoopBound<OriginPool>

    init(_ index: Int, _ upstream: Upstream) throws {
      let loop = try EventLoop(index: index)
      pool = LoopBound(OriginPool(upstream: upstream, loop: loop), on: loop)
      thread = TestThread { loop.runUntilStopped() }
      self.loop = loop
    }

    /// Starts an exchange; the gate opens at its end.
    func start(
      _ target: String, use: OriginUse = .passThrough, _ stories: TestLock<[String: [String]]>
    ) -> Gate {
      let gate = Gate()
      loop.run { [pool] in
        let recorder = ExchangeRecorder()
        recorder.react = { [unowned recorder] _, _ in
          guard recorder.isOver else { return }
          stories.withLock { $0[target] = recorder.story }
          gate.open()
        }
        _ = pool.get().start(.get(target, use: use), delegate: recorder)
      }
      return gate
    }

    func stop() {
      loop.run { [pool] in pool.get().closeIdle() }
      loop.stop()
      thread.join()
    }
  }

  private static let okayStory = ["connected", "head 200 length(2)", "body ok", "ended"]

  @Test("an idle connection of one loop is closed when another one needs its place")
  func reclaims() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expect(getHead("/a")), .send(okay), .expectEnd], [.expect(getHead("/b")), .send(okay), .expectEnd])
    var settings = UpstreamSettings(name: "test", urls: [UpstreamURL(origin)], maxConnections: 1)
    settings.keepalive = .seconds(3600)
    let upstream = Upstream(settings, resolver: Bench.resolver)
    let (a, b) = (try Side(0, upstream), try Side(1, upstream))
    let stories = TestLock([String: [String]]())
    #expect(a.start("/a", stories).wait())
    #expect(b.start("/b", stories).wait())
    #expect(stories.withLock { $0 } == ["/a": Self.okayStory, "/b": Self.okayStory])
    a.stop()
    b.stop()
    #expect(upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("the limit holds over all loops under load, and everyone is served")
  func load() throws {
    let (limit, count) = (3, 120)
    let present = TestLock((now: 0, most: 0))
    let script: [OriginStep] =
      [.run { present.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }]
      + [.expectHead, .run { present.withLock { $0.now -= 1 } }]
      + [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")]
    let origin = ScriptedOrigin(scripts: Array(repeating: script, count: count))
    let upstream = Upstream(
      UpstreamSettings(name: "test", urls: [UpstreamURL(origin)], maxConnections: limit), resolver: Bench.resolver)
    let sides = try (0..<2).map { try Side($0, upstream) }
    let stories = TestLock([String: [String]]())
    let gates = (0..<count).map { sides[$0 % 2].start("/\($0)", stories) }
    #expect(gates.allSatisfy { $0.wait() })
    #expect(stories.withLock { $0.values.allSatisfy { $0 == Self.okayStory } })
    #expect(present.withLock { $0.most } <= limit)
    for side in sides { side.stop() }
    #expect(upstream.connectionCount == 0)
    #expect(upstream.waitingCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("places move between loops with every mixture of use, and nobody is forgotten", arguments: [1, 2, 3, 8])
  func exchangeOfPlaces(_ limit: Int) throws {
    let count = 200
    let origin = ScriptedOrigin(scripts: Array(repeating: [.answerAll(okay)], count: count))
    let upstream = Upstream(
      UpstreamSettings(name: "test", urls: [UpstreamURL(origin)], maxConnections: limit), resolver: Bench.resolver)
    let sides = try (0..<3).map { try Side($0, upstream) }
    let stories = TestLock([String: [String]]())
    let gates = (0..<count).map {
      sides[$0 * 7 / 3 % 3].start("/\($0)", use: $0 % 5 < 2 ? .fill : .passThrough, stories)
    }
    #expect(gates.allSatisfy { $0.wait() })
    #expect(stories.withLock { $0.values.allSatisfy { $0 == Self.okayStory } })
    #expect(upstream.connectionCount <= limit)
    for side in sides { side.stop() }
    #expect(upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test(
    "what ends before an answer rests a node at once, after several, or not at all",
    arguments: [
      (ProxyError.Kind.httpResponseTimeout, false, 1), (.connectionReadTimeout, true, 1), (.tlsAlertReceived, false, 1),
      (.connectionTerminated, false, 2), (.connectionTerminated, true, nil), (.proxyInternalError, false, nil),
      (.connectionLimitReached, false, nil),
    ] as [(ProxyError.Kind, Bool, Int?)])
  func breaks(_ kind: ProxyError.Kind, _ isReused: Bool, _ count: Int?) {
    var settings = UpstreamSettings(name: "test", urls: (1...2).map { UpstreamURL(host: "a", port: $0) })
    settings.nodes.restAfterErrors = 2
    let said = TestLock<[NodeNews]>([])
    let upstream = Upstream(settings, resolver: Bench.resolver, news: { news in said.withLock { $0.append(news) } })
    let now = Monotonic(nanoseconds: 1)
    for turn in 1...5 {
      upstream.broke(0, ProxyError(kind), for: Bytes("/\(turn)"), isReused: isReused, at: now)
      #expect(said.withLock { $0.count } == (count.map { turn >= $0 ? 1 : 0 } ?? 0))
    }
    #expect(said.withLock { $0.allSatisfy { !$0.isUp && $0.url == 0 && $0.why == kind.rawValue } })
  }
}
