import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("Reaching an origin") struct OriginDialTests {
  private static let okayStory = ["connected", "head 200 length(2)", "body ok", "ended"]
  private static let answer: [OriginStep] = [.expect(getHead()), .send(okay)]

  private static func resolver(_ answers: [String: Result<[String], ResolveError>]) -> Resolver {
    Resolver(threads: 1) { host in
      guard let answer = answers[host] else { return .failure(.notFound) }
      return answer.map { $0.compactMap { SocketAddress.literal($0, port: 0) } }
    }
  }

  @Test("a refused connection is said to be one, with the address")
  func refused() throws {
    let port = ScriptedOrigin.closedPort()
    let bench = try Bench { $0.urls = [UpstreamURL(host: "127.0.0.1", port: port)] }
    let recorder = bench.run(.get())
    #expect(recorder.story == ["broke connection_refused before the head, nothing sent"])
    #expect(recorder.details == "127.0.0.1:\(port): connection refused")
    #expect(bench.upstream.connectionCount == 0)
  }

  @Test("the next URL is tried while nothing was sent, content that was given early included")
  func failover() throws {
    let wire = "POST / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\nhello"
    let origin = ScriptedOrigin(.tcp, [.expect(wire), .send(okay)] + Self.answer + [.readToEnd])
    let bench = try Bench {
      $0.urls = [
        UpstreamURL(host: "127.0.0.1", port: ScriptedOrigin.closedPort()),
        UpstreamURL(host: "@pawl-nobody", port: 0, isUnix: true),
        UpstreamURL(origin),
      ]
    }
    let recorder = ExchangeRecorder()
    bench.start(.request(.post, "/", .length(5)), recorder).send("hello")
    bench.turn { recorder.isOver }
    #expect(recorder.story == Self.okayStory)
    #expect(bench.upstream.choose(at: bench.loop.now, for: [], preferring: nil).first == 2)
    #expect(bench.run(.get()).story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("all addresses of a name are tried")
  func addresses() throws {
    let origin = ScriptedOrigin(.tcp, Self.answer + [.readToEnd])
    let resolver = Self.resolver(["app": .success(["127.0.0.2", "127.0.0.1"])])
    let bench = try Bench(resolver: resolver) { $0.urls = [UpstreamURL(host: "app", port: origin.port)] }
    #expect(bench.run(.get()).story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    resolver.stop()
  }

  static let unresolved: [(ResolveError, String)] = [
    (.notFound, "broke dns_error before the head, nothing sent"),
    (.temporary, "broke dns_timeout before the head, nothing sent"),
  ]

  @Test("a name without an address is said to be one", arguments: unresolved)
  func names(_ error: ResolveError, _ story: String) throws {
    let resolver = Self.resolver(["app": .failure(error)])
    let bench = try Bench(resolver: resolver) { $0.urls = [UpstreamURL(host: "app", port: 80)] }
    #expect(bench.run(.get()).story == [story])
    resolver.stop()
  }

  @Test("a connection made by name is not kept beyond 30 s, so that a new address is followed", arguments: [29, 30])
  func nameLifetime(_ age: Int) throws {
    let clock = ManualClock()
    let resolver = Self.resolver(["app": .success(["127.0.0.1"])])
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .send(okay), .readToEnd])
    let bench = try Bench(clock: clock, resolver: resolver) {
      $0.urls = [UpstreamURL(host: "app", port: origin.port)]
    }
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    bench.turn { recorder.story == ["connected"] }
    clock.advance(by: .seconds(age))
    gate.open()
    bench.turn { recorder.isOver }
    #expect(recorder.story == Self.okayStory)
    #expect(bench.pool.idleCount == (age < 30 ? 1 : 0))
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    resolver.stop()
  }

  @Test("silence of an address ends with the connect timeout, shared among the addresses")
  func timeout() throws {
    let clock = ManualClock()
    // Nothing answers on TEST-NET-1; where there is no route at all, the failure is immediate.
    let resolver = Self.resolver(["app": .success(["192.0.2.1"])])
    let bench = try Bench(clock: clock, resolver: resolver) { $0.urls = [UpstreamURL(host: "app", port: 80)] }
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    var turns = 0
    bench.turn {
      turns += 1
      clock.advance(by: .seconds(1))
      return recorder.isOver || turns > 1000
    }
    let possible = ["connection_timeout", "destination_ip_unroutable", "connection_refused"]
    #expect(possible.map { "broke \($0) before the head, nothing sent" }.contains(recorder.story.last))
    #expect(bench.upstream.connectionCount == 0)
    resolver.stop()
  }

  @Test("a request that is cancelled while it connects gives its place back")
  func cancel() throws {
    let resolver = Self.resolver(["app": .success(["127.0.0.1"])])
    let bench = try Bench(resolver: resolver) { $0.urls = [UpstreamURL(host: "app", port: 1)] }
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.get(), recorder)
    bench.turn { bench.upstream.connectionCount == 1 }
    exchange.cancel()
    #expect(bench.upstream.connectionCount == 0)
    for _ in 0..<5 { bench.turnOnce() }
    #expect(recorder.story == [])
    resolver.stop()
  }
}
