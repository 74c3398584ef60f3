import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

/// A response on the wire and what is said about it.
struct ResponseCase: Sendable, CustomTestStringConvertible {
  var name: String
  var wire: String
  var story: [String]
  /// Whether the connection carries the next request too.
  var isReused = false
  var method = PawlHTTP.Method.get
  /// Whether the origin closes right behind the response.
  var closes = false
  /// Whether byte by byte the end would come before what follows it.
  var isWholeOnly = false

  var testDescription: String { name }
}

@Suite("Responses of origins (RFC 9112 §6.3; Hygiene, \"Responses\")") struct OriginExchangeResponseTests {
  static let complete: [ResponseCase] = [
    .init(
      name: "known length", wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      story: ["head 200 length(5)", "body hello", "ended"], isReused: true),
    .init(
      name: "no content", wire: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      story: ["head 200 length(0)", "ended"], isReused: true),
    .init(
      name: "chunks", wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
      story: ["head 200 chunked", "body abcde", "ended"], isReused: true),
    .init(
      name: "until the end of the connection", wire: "HTTP/1.1 200 OK\r\n\r\nall of it",
      story: ["head 200 untilClose", "body all of it", "ended"], closes: true),
    .init(
      name: "HTTP/1.0 until the end", wire: "HTTP/1.0 200 OK\r\n\r\nall",
      story: [
        "head 200 untilClose", "body all", "ended",
      ], closes: true),
    .init(
      name: "HTTP/1.0 with a length", wire: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
      story: ["head 200 length(2)", "body ok", "ended"]),
    .init(
      name: "HTTP/1.0 that stays", wire: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
      story: ["head 200 length(2)", "body ok", "ended"], isReused: true),
    .init(
      name: "Connection: close", wire: "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
      story: ["head 200 length(2)", "body ok", "ended"]),
    .init(
      name: "204 with a length (Hygiene, \"bodiless responses\")", wire: "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
      story: ["head 204 none", "ended"], isReused: true),
    .init(
      name: "304 with a length", wire: "HTTP/1.1 304 Same\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n",
      story: ["head 304 none", "ended"], isReused: true),
    .init(
      name: "HEAD", wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", story: ["head 200 none", "ended"],
      isReused: true, method: .head),
    .init(
      name: "HEAD of chunks", wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      story: ["head 200 none", "ended"], isReused: true, method: .head),
    .init(
      name: "interim responses",
      wire:
        "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      story: ["interim 100", "interim 103", "head 200 length(2)", "body ok", "ended"], isReused: true),
    .init(
      name: "a last coding that is not chunked (Hygiene, \"response coding\")",
      wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzz", story: ["head 200 untilClose", "body zz", "ended"],
      closes: true),
    .init(
      name: "bytes behind the response (Hygiene, \"bytes behind the response\")",
      wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200",
      story: ["head 200 length(2)", "body ok", "ended"], isWholeOnly: true),
    .init(
      name: "content behind a HEAD (Hygiene, \"bodiless responses\")",
      wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      story: ["head 200 none", "ended"], method: .head, isWholeOnly: true),
    .init(
      name: "a status of 999", wire: "HTTP/1.1 999 \r\nContent-Length: 0\r\n\r\n",
      story: ["head 999 length(0)", "ended"],
      isReused: true),
  ]

  @Test("are delivered whole and byte by byte", arguments: complete, [false, true])
  func delivers(_ response: ResponseCase, byteByByte: Bool) throws {
    guard !(byteByByte && response.isWholeOnly) else { return }
    let send: OriginStep = byteByByte ? .sendEachByte(response.wire) : .send(response.wire)
    let rest: [OriginStep] = response.closes ? [] : [.expectHead, .send(okay), .readToEnd]
    let origin = ScriptedOrigin(.unix, [.expectHead, send] + rest, [.expectHead, .send(okay), .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.request(response.method))
    #expect(recorder.story == ["connected"] + response.story)
    #expect(bench.upstream.connectionCount == (response.isReused ? 1 : 0))
    #expect(bench.run(.get()).story == ["connected", "head 200 length(2)", "body ok", "ended"])
    bench.pool.closeIdle()
    #expect(origin.acceptedCount == (response.isReused ? 1 : 2))
    if response.isReused { #expect(origin.finish() == []) } else { _ = origin.finish() }
  }

  /// What came in one piece, what can be taken of it at once, and whether the connection carries the next request.
  static let wholes: [(wire: String, content: String?, isReused: Bool)] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
    ("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", true),
    ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "hello", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200", "hello", false),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", nil, true),
    ("HTTP/1.1 204 No\r\n\r\n", nil, true),
  ]

  @Test(
    "content that came whole with its head can be taken at once, and the exchange is over with it", arguments: wholes)
  func takesContent(_ wire: String, _ content: String?, _ isReused: Bool) throws {
    let next: [OriginStep] = [.expectHead, .send(okay), .readToEnd]
    let origin = ScriptedOrigin(.unix, [.expectHead, .send(wire)] + next, next)
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    var taken: [String?] = []
    recorder.react = { event, exchange in
      guard case .head = event else { return }
      taken.append(exchange.takeContent().map { String(decoding: $0, as: UTF8.self) })
      // It is lent once.
      taken.append(exchange.takeContent().map { String(decoding: $0, as: UTF8.self) })
    }
    let exchange = bench.start(.get(), recorder)
    bench.turn { !taken.isEmpty && (content != nil || recorder.isOver) }
    #expect(taken == [content, nil])
    if let content {
      #expect(recorder.story.last?.hasPrefix("head 200") == true)
      #expect(exchange.bodyBytesReceived == content.utf8.count)
    } else {
      #expect(recorder.story.last == "ended")
    }
    #expect(bench.upstream.connectionCount == (isReused ? 1 : 0))
    #expect(bench.run(.get()).story == ["connected", "head 200 length(2)", "body ok", "ended"])
    bench.pool.closeIdle()
    #expect(origin.acceptedCount == (isReused ? 1 : 2))
    _ = origin.finish()
  }

  @Test("content that comes in pieces cannot be taken at once, nor while the exchange is paused")
  func takesNoPieces() throws {
    let origin = ScriptedOrigin(
      .unix, [.expectHead, .sendEachByte(okay), .expectHead, .send(okay), .readToEnd])
    let bench = try Bench(origin)
    for pauses in [false, true] {
      let recorder = ExchangeRecorder()
      var taken: [Bool] = []
      recorder.react = { event, exchange in
        guard case .head = event else { return }
        if pauses { exchange.pause() }
        taken.append(exchange.takeContent() != nil)
        if pauses { exchange.resume() }
      }
      _ = bench.start(.get(), recorder)
      bench.turn { recorder.isOver }
      #expect(taken == [false])
      #expect(recorder.story == ["connected", "head 200 length(2)", "body ok", "ended"])
    }
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  static let broken: [ResponseCase] = [
    .init(name: "nothing", wire: "", story: ["broke connection_terminated before the head"]),
    .init(
      name: "half a head", wire: "HTTP/1.1 200 OK\r\nConte", story: ["broke http_response_incomplete before the head"]),
    .init(
      name: "an interim head alone", wire: "HTTP/1.1 103 Hints\r\n\r\n",
      story: ["interim 103", "broke http_response_incomplete before the head"]),
    .init(
      name: "short of the length (Hygiene, \"truncated response\")",
      wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
      story: ["head 200 length(5)", "body hell", "broke http_response_incomplete"]),
    .init(
      name: "no last chunk", wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
      story: ["head 200 chunked", "body abc", "broke http_response_incomplete"]),
    .init(
      name: "no end of the trailers", wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
      story: ["head 200 chunked", "broke http_response_incomplete"]),
    .init(
      name: "a malformed chunk (Hygiene, \"response chunks\")",
      wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0x5\r\n",
      story: ["head 200 chunked", "body abc", "broke http_response_transfer_coding"]),
    .init(
      name: "length and chunks (Hygiene, \"response with length and coding\")",
      wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      story: ["broke http_protocol_error before the head"]),
    .init(
      name: "two lengths (Hygiene, \"response length\")",
      wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      story: ["broke http_protocol_error before the head"]),
    .init(
      name: "another protocol (Hygiene, \"status line\")", wire: "SSH-2.0-x\r\n",
      story: ["broke http_protocol_error before the head"]),
    .init(
      name: "a head beyond all limits (Hygiene, \"large response head\")",
      wire: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 40_000))",
      story: ["broke http_response_header_section_size before the head"]),
    .init(
      name: "101 that nobody asked for (Hygiene, \"101 unasked\")",
      wire: "HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      story: ["broke http_protocol_error before the head"]),
  ]

  @Test("break visibly", arguments: broken, [false, true])
  func breaks(_ response: ResponseCase, byteByByte: Bool) throws {
    let send: OriginStep = byteByByte ? .sendEachByte(response.wire) : .send(response.wire)
    let origin = ScriptedOrigin(.unix, [.expectHead, send])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).story == ["connected"] + response.story)
    #expect(bench.upstream.connectionCount == 0)
    _ = origin.finish()
  }

  @Test("a reset in the middle is said to be one")
  func resets() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), .wait(gate), .reset])
    let bench = try Bench(origin)
    let recorder = bench.run(.get()) { event, _ in if case .body = event { gate.open() } }
    #expect(recorder.story == ["connected", "head 200 length(5)", "body hell", "broke connection_terminated"])
    #expect(origin.finish() == [])
  }

  @Test("a reset ends a close-delimited body, it does not complete it")
  func resetsUntilClose() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.0 200 OK\r\n\r\nhell"), .wait(gate), .reset])
    let bench = try Bench(origin)
    let recorder = bench.run(.get()) { event, _ in if case .body = event { gate.open() } }
    #expect(recorder.story == ["connected", "head 200 untilClose", "body hell", "broke connection_terminated"])
    #expect(origin.finish() == [])
  }

  @Test("64 interim heads are passed on, one more is too many (Hygiene, \"endless 1xx\")", arguments: [64, 65])
  func manyInterims(_ count: Int) throws {
    let interims = String(repeating: "HTTP/1.1 102 Wait\r\n\r\n", count: count)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(interims + okay), .readToEnd])
    let bench = try Bench(origin)
    let recorder = bench.run(.get())
    #expect(recorder.events.filter { $0 == .interim(102) }.count == 64)
    #expect(recorder.story.last == (count == 64 ? "ended" : "broke http_protocol_error before the head"))
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("trailers that may be passed on are")
  func trailers() throws {
    let wire =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nRepr-Digest: x=:YQ==:\r\nHost: b\r\n\r\n"
    let origin = ScriptedOrigin(.unix, [.expectHead, .sendEachByte(wire), .readToEnd])
    let bench = try Bench(origin)
    #expect(bench.run(.get()).trailers.first(.reprDigest)?.text == "x=:YQ==:")
    bench.pool.closeIdle()
    _ = origin.finish()
  }

  @Test("a 101 hands over the stream with what came behind it", arguments: [false, true])
  func upgrade(byteByByte: Bool) throws {
    let head = "HTTP/1.1 101 Switch\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"
    let origin = ScriptedOrigin(
      .unix, [.expectHead, byteByByte ? .sendEachByte(head) : .send(head + "first"), .expect("ping"), .expectEnd])
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    var exchange: OriginExchange? = bench.pool.start(.request(.get, isUpgrade: true), delegate: recorder)
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "upgraded \(byteByByte ? "" : "first")"])
    #expect(bench.upstream.connectionCount == 0 && bench.upstream.liveCount == 1)
    let stream = try #require(recorder.stream)
    _ = Array("ping".utf8).withUnsafeBytes { stream.write($0, more: false) }
    stream.close()
    #expect(exchange?.peer.hasPrefix("unix:@pawl-test") == true)
    exchange = nil
    #expect(bench.upstream.connectionCount == 0 && bench.upstream.liveCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("another answer to an upgrade is an answer")
  func refusedUpgrade() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(okay), .readToEnd])
    let bench = try Bench(origin)
    #expect(
      bench.run(.request(.get, isUpgrade: true)).story == ["connected", "head 200 length(2)", "body ok", "ended"])
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("what came together is told of as such, and its end where the response goes on")
  func together() throws {
    let rest = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .wait(rest), .send("cd"), .readToEnd])
    let bench = try Bench(origin)
    let recorder = ExchangeRecorder()
    var during: [Bool] = []
    recorder.react = { event, exchange in
      if case .body = event { during.append(exchange.isDelivering) }
      if case .head = event { during.append(exchange.isDelivering) }
    }
    let exchange = bench.start(.get(), recorder)
    bench.turn { recorder.deliveries == 1 }
    #expect(!exchange.isDelivering && during == [true, true])
    rest.open()
    bench.turn { recorder.isOver }
    #expect(during == [true, true, true])
    // The end tells by itself.
    #expect(recorder.deliveries == 1)
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }
}
