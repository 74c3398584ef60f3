import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("A loop's connections to an upstream") struct OriginPoolTests {
  private static let okayStory = ["connected", "head 200 length(2)", "body ok", "ended"]
  private static let answer: [OriginStep] = [.expect(getHead()), .send(okay)]

  @Test("bytes on an idle connection close it and answer nothing (Hygiene, \"bytes on an idle connection\")")
  func unsolicited() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp, Self.answer + [.wait(gate), .send(okay), .expectEnd], Self.answer + [.readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(bench.pool.idleCount == 1)
    gate.open()
    bench.turn { bench.pool.idleCount == 0 }
    #expect(bench.upstream.connectionCount == 0)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(origin.acceptedCount == 2)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("bytes that came just before the next request are not its answer")
  func unsolicitedUnseen() throws {
    let gate = Gate()
    let sent = Gate()
    let origin = ScriptedOrigin(
      .tcp, Self.answer + [.wait(gate), .send(okay), .open(sent), .readToEnd], Self.answer + [.readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    gate.open()
    #expect(sent.wait())
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.get(), recorder)
    exchange.begin()  // before the loop looks at its sockets
    bench.turn { recorder.isOver }
    #expect(recorder.story == Self.okayStory)
    #expect(origin.acceptedCount == 2)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("an idle connection that the origin closes is let go of")
  func closedByOrigin() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, Self.answer + [.wait(gate)])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    gate.open()
    bench.turn { bench.pool.idleCount == 0 }
    #expect(bench.upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("idle connections are closed after the keepalive time, each at its own")
  func keepalive() throws {
    let clock = ManualClock()
    let origin = ScriptedOrigin(.tcp, Self.answer + [.expectEnd], Self.answer + [.expectEnd])
    let bench = try Bench(origin, clock: clock)
    let (first, second) = (ExchangeRecorder(), ExchangeRecorder())
    second.react = { event, exchange in if event == .connected { exchange.pause() } }
    bench.start(.get(), first)
    let slow = bench.start(.get(), second)
    bench.turn { first.isOver }
    clock.advance(by: .seconds(3))
    slow.resume()
    bench.turn { second.isOver }
    #expect(bench.pool.idleCount == 2)
    clock.advance(by: .milliseconds(1000))
    bench.turn { bench.pool.idleCount == 1 }
    clock.advance(by: .milliseconds(2999))
    bench.turnOnce()
    bench.turnOnce()
    #expect(bench.pool.idleCount == 1)
    clock.advance(by: .milliseconds(1))
    bench.turn { bench.pool.idleCount == 0 }
    #expect(bench.upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("the limit makes requests wait in the order of coming")
  func queue() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expect(getHead("/0")), .send(okay), .expect(getHead("/1")), .send(okay), .expect(getHead("/2")),
        .send(okay), .readToEnd,
      ])
    let bench = try Bench(origin) { $0.maxConnections = 1 }
    let recorders = (0..<3).map { _ in ExchangeRecorder() }
    for (index, recorder) in recorders.enumerated() { bench.start(.get("/\(index)"), recorder) }
    bench.turn { recorders.allSatisfy(\.isOver) }
    #expect(recorders.allSatisfy { $0.story == Self.okayStory })
    #expect(origin.acceptedCount == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("waiting too long is answered with 503; who was served goes on")
  func queueTimeout() throws {
    let clock = ManualClock()
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expect(getHead()), .wait(gate), .send(okay), .readToEnd])
    let bench = try Bench(origin, clock: clock) { $0.maxConnections = 1 }
    let (first, second) = (ExchangeRecorder(), ExchangeRecorder())
    bench.start(.get(), first)
    bench.start(.get(), second)
    bench.turn { first.story == ["connected"] }
    #expect(bench.upstream.waitingCount == 1)
    clock.advance(by: .seconds(30))
    bench.turn { second.isOver }
    #expect(second.story == ["broke connection_limit_reached before the head, nothing sent"])
    #expect(ProxyError(.connectionLimitReached).status == 503)
    #expect(bench.upstream.waitingCount == 0)
    gate.open()
    bench.turn { first.isOver }
    #expect(first.story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a request can leave the queue; the next one takes its turn")
  func leavesQueue() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp, [.expect(getHead("/0")), .wait(gate), .send(okay), .expect(getHead("/2")), .send(okay), .readToEnd])
    let bench = try Bench(origin) { $0.maxConnections = 1 }
    let recorders = (0..<3).map { _ in ExchangeRecorder() }
    let exchanges = recorders.enumerated().map { bench.start(.get("/\($0)"), $1) }
    bench.turn { bench.upstream.waitingCount == 2 }
    exchanges[1].cancel()
    gate.open()
    bench.turn { recorders[2].isOver }
    #expect(recorders.map(\.story) == [Self.okayStory, [], Self.okayStory])
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("fills leave half of the connections to others")
  func fills() throws {
    let gate = Gate()
    // Either connection may carry the second fill.
    let held: [OriginStep] = [.expectHead, .wait(gate), .send(okay), .expectHead, .send(okay), .readToEnd]
    let origin = ScriptedOrigin(.tcp, held, held)
    let bench = try Bench(origin) { $0.maxConnections = 2 }
    let recorders = (0..<3).map { _ in ExchangeRecorder() }
    bench.start(.get(use: .fill), recorders[0])
    bench.start(.get(use: .fill), recorders[1])
    bench.start(.get(use: .passThrough), recorders[2])
    bench.turn { recorders[0].story == ["connected"] && recorders[2].story == ["connected"] }
    #expect(recorders[1].story == [])
    gate.open()
    bench.turn { recorders.allSatisfy(\.isOver) }
    #expect(recorders.allSatisfy { $0.story == Self.okayStory })
    bench.pool.closeIdle()
    _ = origin.finish()
  }

  @Test("a reused connection that closes before its answer is replaced once, for a request that may be repeated")
  func retry() throws {
    let origin = ScriptedOrigin(.tcp, Self.answer + [.expectHead], Self.answer + [.readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(origin.acceptedCount == 2)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a reset counts as a close")
  func retryAfterReset() throws {
    let origin = ScriptedOrigin(.tcp, Self.answer + [.expectHead, .reset], Self.answer + [.readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(bench.run(.get()).story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  static let unrepeatable: [(OriginRequest, Bool)] = [
    (.request(.post), false), (.request(.patch), false), (.request(.put, "/", .length(5)), true),
    (.request(.post, "/", .length(5)), true),
  ]

  @Test(
    "a request that may not be repeated is not (Hygiene, \"lost reused connection\")", arguments: unrepeatable.indices)
  func noRetry(_ index: Int) throws {
    let (request, sendsBody) = Self.unrepeatable[index]
    let origin = ScriptedOrigin(.tcp, Self.answer + [.expectHead] + (sendsBody ? [.read(5)] : []))
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    let recorder = bench.run(request) { event, exchange in
      if event == .connected, sendsBody { exchange.send("hello") }
    }
    #expect(recorder.story == ["connected", "broke connection_terminated before the head"])
    #expect(origin.acceptedCount == 1)
    #expect(origin.finish() == [])
  }

  @Test("content that was not taken yet goes over the new connection, and is asked for once")
  func retryWithBody() throws {
    let wire = "PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, Self.answer + [.expect(wire)], [.expect(wire + "hello"), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == Self.okayStory)
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.request(.put, "/", .length(5)), recorder)
    bench.turn { origin.acceptedCount == 2 }
    exchange.send("hello")
    bench.turn { recorder.isOver }
    #expect(recorder.story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a fresh connection that closes before its answer is not replaced")
  func noRetryOfFresh() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == ["connected", "broke connection_terminated before the head"])
    #expect(origin.acceptedCount == 1)
    #expect(origin.finish() == [])
  }

  @Test("goes round the URLs and comes back to idle connections of each")
  func roundRobin() throws {
    let twice = Self.answer + Self.answer + [.readToEnd]
    let (one, two) = (ScriptedOrigin(.tcp, twice), ScriptedOrigin(.tcp, twice))
    let bench = try Bench(one, two)
    for _ in 0..<4 { #expect(bench.run(.get()).story == Self.okayStory) }
    #expect([one.acceptedCount, two.acceptedCount] == [1, 1])
    bench.pool.closeIdle()
    #expect(one.finish() + two.finish() == [])
  }

  @Test("with no room left an idle connection to another node is taken, or closed where the target belongs to one")
  func standIn() throws {
    for balance in [NodeSettings.Balance.roundRobin, .hash] {
      let (one, two) = (
        ScriptedOrigin(.tcp, [.answerAll(Array(okay.utf8))]), ScriptedOrigin(.tcp, [.answerAll(Array(okay.utf8))])
      )
      let bench = try Bench(one, two) {
        $0.maxConnections = 1
        $0.nodes.balance = balance
      }
      let targets = (0...1).compactMap { node in
        (0..<100).map { "/\($0)" }.first {
          bench.upstream.choose(at: bench.loop.now, for: Bytes($0), preferring: nil)[0] == node
        }
      }
      for target in targets { #expect(bench.run(.get(target)).story == Self.okayStory) }
      #expect(one.acceptedCount + two.acceptedCount == (balance == .hash ? 2 : 1))
      bench.pool.closeIdle()
      _ = (one.finish(), two.finish())
    }
  }

  @Test("what is safe goes to another node when one closes before it answers, once")
  func safeRetry() throws {
    let one = ScriptedOrigin(.tcp, [.expectHead], [.expectHead])
    let two = ScriptedOrigin(.tcp, Self.answer, [.expectHead])
    let bench = try Bench(one, two)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect([one.acceptedCount, two.acceptedCount] == [1, 1])
    bench.pool.closeIdle()
    #expect(bench.run(.get()).story.last == "broke connection_terminated before the head")
    #expect([one.acceptedCount, two.acceptedCount] == [2, 2])
    _ = (one.finish(), two.finish())
  }

  @Test("what may change something is repeated at its node alone")
  func unsafeRetry() throws {
    let one = ScriptedOrigin(.tcp, Self.answer + [.expectHead], [.expectHead])
    let two = ScriptedOrigin(.tcp, [.answerAll(Array(okay.utf8))])
    let bench = try Bench(one, two)
    #expect(bench.run(.get()).story == Self.okayStory)
    #expect(bench.run(.get()).story == Self.okayStory)
    let recorder = bench.run(.request(.delete, "/"))
    #expect(recorder.story.last == "broke connection_terminated before the head")
    #expect(two.acceptedCount == 1)
    #expect(two.received.map { $0.count } == [getHead().utf8.count])
    bench.pool.closeIdle()
    _ = (one.finish(), two.finish())
  }

  @Test("a pool that is let go of closes its idle connections and gives up their places")
  func deinitialised() throws {
    let origin = ScriptedOrigin(.tcp, Self.answer + [.expectEnd])
    var bench: Bench? = try Bench(origin)
    let upstream = try #require(bench?.upstream)
    #expect(bench?.run(.get()).story == Self.okayStory)
    #expect(upstream.connectionCount == 1)
    bench = nil
    #expect(upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }
}
