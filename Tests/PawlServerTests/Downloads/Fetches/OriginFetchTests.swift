import PawlTestKit
import Testing

@testable import PawlServer

@Suite("When the origin breaks off") struct OriginFetchTests {
  private static let size = 20_000
  private static let content = OriginStep.pattern(from: 0, count: size)

  /// What happens to a connection in the middle of a body.
  enum Break: CaseIterable, Sendable { case reset, ended }

  /// A 200 of which only the first bytes come.
  private static func head(_ fields: String, length: Int = size) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(length)\r\n\r\n")
  }

  private static func part(from start: Int, _ fields: String) -> OriginStep {
    .send(
      "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(size - start)\r\n"
        + "Content-Range: bytes \(start)-\(size - 1)/\(size)\r\n\r\n")
  }

  /// One connection that answers with `answer` and then sends `range` of the content.
  private static func connection(_ answer: OriginStep, _ range: Range<Int>, _ end: Break? = nil) -> [OriginStep] {
    let send = [.expectHead, answer, OriginStep.sendPattern(from: UInt64(range.lowerBound), count: range.count)]
    switch end {
    case nil: return send + [.readToEnd]
    case .ended: return send
    case .reset: return send + [.reset]
    }
  }

  /// The request of one connection, as text.
  private func request(_ origin: ScriptedOrigin, _ index: Int) -> String {
    index < origin.received.count ? String(decoding: origin.received[index], as: UTF8.self) : ""
  }

  @Test("the rest is asked for by the strong validator: the client sees one 200", arguments: Break.allCases)
  func range(_ end: Break) throws {
    let tag = "ETag: \"v1\"\r\nAccept-Ranges: bytes\r\n"
    let from = 10_000 - 4096
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(tag), 0..<10_000, end),
      Self.connection(Self.part(from: from, tag), from..<Self.size))
    let pawl = try TestServer(origin)
    let answer = pawl.get()
    #expect(
      answer.shown == """
        HTTP/1.1 200 OK
        Cache-Control: max-age=60
        ETag: "v1"
        Accept-Ranges: bytes
        Cache-Status: pawl; fwd=uri-miss; fwd-status=200; stored
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: 20000


        """)
    #expect(answer.content == Self.content && answer.isWhole)
    #expect(
      pawl.record(1, "bytes_from_origin", "bytes_resumed", "bytes_replayed", "origin_resumes", "ended_by")
        == ["24096", "10000", "4096", "1", "done"])
    #expect(pawl.stop() == [])
    #expect(request(origin, 1).contains("\r\nRange: bytes=\(from)-\r\n"))
    #expect(request(origin, 1).contains("\r\nIf-Range: \"v1\"\r\n"))
    #expect(pawl.events("origin-resumed").count == 1 && pawl.events("origin-broke").count == 1)
  }

  @Test("without a validator the whole is fetched again and compared: nothing is spliced", arguments: Break.allCases)
  func replay(_ end: Break) throws {
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(""), 0..<10_000, end), Self.connection(Self.head(""), 0..<Self.size))
    let pawl = try TestServer(origin)
    let answer = pawl.get()
    #expect(answer.status == 200 && answer.content == Self.content && answer.isWhole)
    #expect(
      pawl.record(1, "bytes_from_origin", "bytes_resumed", "bytes_replayed", "origin_resumes")
        == ["30000", "10000", "10000", "1"])
    #expect(pawl.stop() == [])
    #expect(!request(origin, 1).contains("Range"))
  }

  @Test("a chunked body without its last chunk is no end")
  func chunks() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(head + "5\r\nhello\r\n")],
      [.expectHead, .send(head + "8\r\nhello wo\r\n3\r\nrld\r\n0\r\n\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    let answer = pawl.get()
    #expect(answer.text == "hello world" && answer.isWhole)
    #expect(pawl.stop() == [])
  }

  @Test(
    "content that changed ends the body visibly: bytes of two representations never meet",
    arguments: [
      ("a byte before the break", "", "", 9_999, 20_000), ("another length", "", "", nil, 20_001),
      ("another tag", "ETag: \"v1\"\r\n", "ETag: \"v2\"\r\n", nil, 20_000),
      (
        "another date", "Last-Modified: Mon, 13 Nov 2023 00:00:00 GMT\r\n",
        "Last-Modified: Tue, 14 Nov 2023 00:00:00 GMT\r\n", nil, 20_000
      ),
      ("another type", "Content-Type: a/b\r\n", "Content-Type: c/d\r\n", nil, 20_000),
    ] as [(String, String, String, Int?, Int)])
  func changed(_ what: String, _ before: String, _ after: String, _ changedByte: Int?, _ length: Int) throws {
    var second = OriginStep.pattern(from: 0, count: length)
    if let changedByte { second[changedByte] ^= 1 }
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(before), 0..<10_000, .ended),
      [.expectHead, Self.head(after, length: length), .send(second), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    let answer = client.readAnswer()
    #expect(answer.status == 200 && !answer.isWhole && client.ending == .inOrder)
    #expect(answer.content == Array(Self.content.prefix(answer.content.count)))
    #expect(pawl.record(1, "ended_by") == ["origin"])
    #expect(pawl.events("content-changed").count == 1)
    #expect(pawl.events("transfer-cut").count == 1)
    #expect(pawl.stop() == [])
  }

  @Test("a 206 that lies about its content is caught in the overlap")
  func lyingValidator() throws {
    let tag = "ETag: \"v1\"\r\n"
    let from = 10_000 - 4096
    var rest = OriginStep.pattern(from: UInt64(from), count: Self.size - from)
    rest[100] ^= 1
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(tag), 0..<10_000, .ended),
      [.expectHead, Self.part(from: from, tag), .send(rest), .readToEnd])
    let pawl = try TestServer(origin)
    let answer = pawl.get()
    #expect(!answer.isWhole && answer.content == Array(Self.content.prefix(answer.content.count)))
    #expect(pawl.events("content-changed").count == 1)
    #expect(pawl.stop() == [])
  }

  @Test(
    "a 206 that cannot be joined is not: the origin is replayed from then on",
    arguments: [
      "ETag: \"v1\"\r\nContent-Range: bytes 1-19999/20000\r\n",
      "ETag: \"v2\"\r\nContent-Range: bytes 5904-19999/20000\r\n",
      "Content-Range: bytes 5904-19999/20000\r\n", "ETag: \"v1\"\r\nContent-Range: bytes 5904-19999/30000\r\n",
      "ETag: \"v1\"\r\n",
    ])
  func wrongParts(_ fields: String) throws {
    let tag = "ETag: \"v1\"\r\n"
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(tag), 0..<10_000, .ended),
      [
        .expectHead, .send("HTTP/1.1 206 Partial Content\r\n\(fields)Connection: close\r\n\r\n"),
        .sendPattern(from: 7, count: 100),
      ],
      Self.connection(Self.head(tag), 0..<Self.size))
    let pawl = try TestServer(origin)
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == Self.content && answer.isWhole)
    #expect(pawl.stop() == [])
    #expect(request(origin, 1).contains("Range: bytes=5904-") && !request(origin, 2).contains("Range"))
  }

  @Test("a 5xx in the middle of a resumption is no answer: pawl waits and asks again")
  func backoff() throws {
    let tag = "ETag: \"v1\"\r\n"
    let from = 10_000 - 4096
    let busy: [OriginStep] = [
      .expectHead, .send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    ]
    let origin = ScriptedOrigin(
      .tcp, Self.connection(Self.head(tag), 0..<10_000, .ended), busy, busy,
      Self.connection(Self.part(from: from, tag), from..<Self.size))
    let pawl = try TestServer(origin)
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == Self.content && answer.isWhole)
    #expect(pawl.stop() == [])
  }

  @Test("after resume-attempts without progress the body ends visibly, and the log says why")
  func givesUp() throws {
    let tag = "ETag: \"v1\"\r\n"
    let origin = ScriptedOrigin(.tcp, Self.connection(Self.head(tag), 0..<10_000, .ended), [.expectHead], [.expectHead])
    let pawl = try TestServer(origin) { $0.upstream = "resume-attempts = 2" }
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == Array(Self.content.prefix(10_000)) && !answer.isWhole)
    let record = pawl.record(1, "bytes", "ended_by", "end_reason")
    #expect(record.prefix(2) == ["10000", "origin"])
    #expect(record.last?.hasSuffix("attemptsExhausted") == true || record.last?.isEmpty == false)
    #expect(pawl.stop() == [])
  }

  @Test("silence beyond idle-timeout is a break")
  func silence() throws {
    let tag = "ETag: \"v1\"\r\n"
    let from = 10_000 - 4096
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: 10_000), .wait(gate)],
      Self.connection(Self.part(from: from, tag), from..<Self.size))
    let pawl = try TestServer(origin) { $0.upstream = "idle-timeout = 7s" }
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(10_000) == Array(Self.content.prefix(10_000)))
    pawl.clock.advance(by: .seconds(7))
    #expect(client.read(10_000) == Array(Self.content.suffix(10_000)))
    gate.open()
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("an origin without ranges that falls silent again is not asked a third time", arguments: [true, false])
  func repetition(_ isKept: Bool) throws {
    let gate = Gate()
    let fields = isKept ? "" : "Cache-Control: no-store\r\n"
    let slow: [OriginStep] = [.expectHead, Self.head(fields), .sendPattern(count: 10_000), .wait(gate)]
    let origin = ScriptedOrigin(.tcp, slow, slow)
    let pawl = try TestServer(origin) { $0.upstream = "idle-timeout = 7s" }
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == Array(Self.content.prefix(10_000)) && !answer.isWhole)
    #expect(pawl.record(1, "bytes", "ended_by") == ["10000", "origin"])
    gate.open()
    #expect(pawl.stop() == [])
    #expect(origin.received.count == 2)
  }
}
