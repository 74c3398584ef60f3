import CLinux
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("One exchange with an origin") struct OriginExchangeTests {
  private static let okayStory = ["connected", "head 200 length(2)", "body ok", "ended"]

  static let requests: [(BodyFraming, [String], String)] = [
    (.none, [], "PUT /a HTTP/1.1\r\nHost: site\r\n\r\n"),
    (.length(0), [], "PUT /a HTTP/1.1\r\nHost: site\r\nContent-Length: 0\r\n\r\n"),
    (.length(5), ["he", "llo"], "PUT /a HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\nhello"),
    (
      .chunked, ["hello", "", "0123456789abcdefg"],
      "PUT /a HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n"
    ),
    (.chunked, [], "PUT /a HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  ]

  @Test("sends the request in the framing given", arguments: requests)
  func framing(_ framing: BodyFraming, _ pieces: [String], _ wire: String) throws {
    let origin = ScriptedOrigin(.tcp, [.expect(wire), .send(okay), .expectEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(.put, "/a", framing)) { event, exchange in
      guard event == .connected else { return }
      for piece in pieces { #expect(exchange.send(piece)) }
      exchange.finishBody()
    }
    #expect(recorder.story == Self.okayStory)
    #expect(bench.pool.idleCount == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("content may be given before there is a connection")
  func early() throws {
    let wire = "POST / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\n\r\nhello"
    let origin = ScriptedOrigin(.tcp, [.expect(wire), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.request(.post, "/", .length(5)), recorder)
    #expect(!exchange.output.hasTakenBody)
    #expect(exchange.send("hello"))
    #expect(exchange.output.hasTakenBody)
    bench.turn { recorder.isOver }
    #expect(recorder.story == Self.okayStory)
    #expect(exchange.peer == "127.0.0.1:\(origin.port)")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("puts the URL's own path before the target")
  func basePath() throws {
    let origin = ScriptedOrigin(.tcp, [.expect(getHead("/app/a?b")), .send(okay), .readToEnd])
    let bench = try Bench(origin) { $0.urls[0].basePath = "/app" }
    #expect(bench.run(.get("/a?b")).story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("trailers follow the last chunk")
  func trailers() throws {
    let wire = "PUT / HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nRepr-Digest: x\r\n\r\n"
    let origin = ScriptedOrigin(.tcp, [.expect(wire), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(.put, "/", .chunked)) { event, exchange in
      guard event == .connected else { return }
      exchange.send("a")
      var trailers = Fields()
      trailers.append(.reprDigest, "x")
      exchange.finishBody(trailers: trailers)
    }
    #expect(recorder.story == Self.okayStory)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a request that is not what it announced is not completed", arguments: ["hell", "hello!"])
  func misuse(_ content: String) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(.put, "/", .length(5))) { event, exchange in
      guard event == .connected else { return }
      exchange.send(content)
      exchange.finishBody()
    }
    #expect(recorder.story == ["connected", "broke proxy_internal_error before the head"])
    #expect(origin.finish() == [])
  }

  @Test("an origin that does not read stops the sender; nothing is lost when it goes on")
  func backpressureToSender() throws {
    let total = 16 << 20
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .read(total), .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let piece = [UInt8](repeating: 7, count: 100_000)
    var given = 0
    var stops = 0
    func give(_ exchange: OriginExchange) {
      while given < total {
        let count = min(piece.count, total - given)
        given += count
        let goesOn = piece.withUnsafeBytes { exchange.sendBody(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        if given == total { return exchange.finishBody() }
        if !goesOn {
          stops += 1
          return gate.open()
        }
      }
    }
    let recorder = bench.run(.request(.put, "/", .length(UInt64(total)))) { event, exchange in
      if event == .connected || event == .wantsBody { give(exchange) }
    }
    #expect(stops > 0)
    // The last piece of all may have stopped it once more.
    #expect((stops...stops + 1).contains(recorder.events.filter { $0 == .wantsBody }.count))
    #expect(recorder.story.last == "ended")
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
    #expect(
      origin.received[0].count == total + "PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 16777216\r\n\r\n".utf8.count)
  }

  @Test("a delegate that pauses stops the origin")
  func backpressureToOrigin() throws {
    let total = 32 << 20
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"
    let stuck = Gate()
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(head), .sendPatternUntilStuck(upTo: total), .open(stuck)])
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    recorder.keepsBody = false
    var pieces = 0
    recorder.react = { event, exchange in
      guard case .body = event else { return }
      pieces += 1
      exchange.pause()
    }
    let exchange = bench.start(.get(), recorder)
    bench.turn { pieces > 0 }
    #expect(stuck.wait())
    bench.turnOnce()
    #expect(pieces == 1)
    exchange.cancel()
    _ = origin.finish()
    #expect(origin.patternSent < total / 2, "\(origin.patternSent) bytes in kernel buffers")
  }

  @Test("pausing at each piece changes nothing about the content", arguments: [false, true])
  func pauses(inTheSameTurn: Bool) throws {
    let chunk = String(repeating: "0123456789", count: 100)
    let wire =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "3e8\r\n\(chunk)\r\n", count: 500)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(wire + "0\r\n\r\n"), .readToEnd])
    let bench = try Bench(origin)
    var isPaused = false
    let recorder = bench.run(.get()) { [loop = bench.loop] event, exchange in
      #expect(!isPaused)
      guard case .body = event else { return }
      exchange.pause()
      if inTheSameTurn { return exchange.resume() }
      isPaused = true
      loop.nextTurn {
        isPaused = false
        exchange.resume()
      }
    }
    #expect(recorder.story.last == "ended")
    #expect(recorder.body == Array(String(repeating: chunk, count: 500).utf8))
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("an early refusal ends the sending and the connection", arguments: [413, 302])
  func earlyRefusal(_ status: Int) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .read(4), .send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno"), .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(.post, "/", .length(1000))) { event, exchange in
      switch event {
      case .connected: #expect(exchange.send("some"))
      case .head: #expect(exchange.send("more"))
      default: break
      }
    }
    #expect(recorder.story == ["connected", "head \(status) length(2)", "body no", "ended"])
    #expect(bench.upstream.connectionCount == 0)
    #expect(origin.finish() == [])
    #expect(origin.received[0].suffix(4) == Array("some".utf8)[...])
  }

  @Test("an origin that answers while it listens gets the whole request")
  func duplex() throws {
    let wire = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(wire), .read(4), .send("2\r\nok\r\n"), .read(4), .send("0\r\n\r\n"), .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(.post, "/", .length(8))) { event, exchange in
      switch event {
      case .head: exchange.send("some")
      case .body: exchange.send("more")
      default: break
      }
    }
    #expect(recorder.story == ["connected", "head 200 chunked", "body ok", "ended"])
    #expect(bench.upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("an answer is delivered although the origin takes no more of the request")
  func refusalBehindAReset() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")])
    let bench = try Bench(origin)
    let piece = [UInt8](repeating: 7, count: 200_000)
    let recorder = bench.run(.request(.post, "/", .length(1 << 30))) { event, exchange in
      guard event == .connected || event == .wantsBody else { return }
      while piece.withUnsafeBytes({ exchange.sendBody($0) }), exchange.requestBytesSent, !exchange.output.isStopped {}
    }
    #expect(recorder.story.filter { $0 != "wants body" } == ["connected", "head 413 length(2)", "body no", "ended"])
    _ = origin.finish()
  }

  @Test(
    "a cancelled exchange closes its connection and says nothing more",
    arguments: ["start", "connected", "head", "body"])
  func cancels(_ moment: String) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"), .readToEnd])
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    var isDone = false
    recorder.react = { event, exchange in
      guard event.description.hasPrefix(moment) else { return }
      exchange.cancel()
      isDone = true
    }
    let exchange = bench.start(.get(), recorder)
    if moment == "start" {
      exchange.cancel()
      isDone = true
      bench.turnOnce()
    }
    bench.turn { isDone }
    exchange.cancel()
    #expect(exchange.send("x"))
    #expect(bench.upstream.connectionCount == 0)
    #expect(!recorder.isOver)
    _ = origin.finish()
  }

  @Test("a delegate may start the next exchange when one ends; it gets the connection")
  func chains() throws {
    let step: [OriginStep] = [.expect(getHead()), .send(okay)]
    let origin = ScriptedOrigin(.tcp, step + step + step + [.readToEnd])
    let bench = try Bench(origin)
    var ended = 0
    let recorder = ExchangeRecorder()
    recorder.react = { event, _ in
      guard event == .ended else { return }
      ended += 1
      if ended < 3 { bench.start(.get(), recorder) }
    }
    bench.start(.get(), recorder)
    bench.turn { ended == 3 }
    recorder.react = { _, _ in }
    #expect(origin.acceptedCount == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a large body comes byte for byte, however the reader pauses", arguments: [0, 1, 3])
  func largeBody(_ pauseEvery: Int) throws {
    let total = 20 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"), .sendPattern(count: total),
        .readToEnd,
      ])
    let bench = try Bench(origin)
    var pieces = 0
    let recorder = ExchangeRecorder()
    recorder.keepsBody = false
    var (offset, wrong) = (UInt64(0), 0)
    recorder.observe = { bytes in
      let expected = OriginStep.pattern(from: offset, count: bytes.count)
      if let start = bytes.baseAddress, memcmp(start, expected, bytes.count) != 0 { wrong += 1 }
      offset += UInt64(bytes.count)
    }
    recorder.react = { [loop = bench.loop] event, exchange in
      guard event == .body("") else { return }
      pieces += 1
      guard pauseEvery > 0, pieces % pauseEvery == 0 else { return }
      exchange.pause()
      loop.nextTurn { exchange.resume() }
    }
    let exchange = bench.start(.get(), recorder)
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "head 200 length(\(total))", "ended"])
    #expect((offset, wrong) == (UInt64(total), 0))
    #expect(exchange.bodyBytesReceived == UInt64(total))
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a 100 is passed up; content follows when the sender has seen it")
  func expectContinue() throws {
    let head = "PUT / HTTP/1.1\r\nHost: site\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expect(head), .send("HTTP/1.1 100 Go\r\n\r\n"), .expect("hello"), .send(okay), .expectEnd])
    let bench = try Bench(origin)
    var request = OriginRequest.request(.put, "/", .length(5))
    request.head.fields.append(.expect, "100-continue")
    let recorder = bench.run(request) { event, exchange in
      guard event == .interim(100) else { return }
      exchange.send("hello")
      exchange.finishBody()
    }
    #expect(recorder.story == ["connected", "interim 100"] + Self.okayStory.dropFirst())
    #expect(bench.pool.idleCount == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }
}
