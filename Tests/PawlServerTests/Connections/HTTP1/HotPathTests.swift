import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The shortest way to an answer") struct HotPathTests {
  private static let fields = [
    "Cache-Control: max-age=60\r\n", "Cache-Control: max-age=60\r\nETag: \"v\"\r\nVary: Accept-Encoding\r\n",
    "Cache-Control: max-age=60\r\nDate: Tue, 14 Nov 2023 22:13:10 GMT\r\nAge: 5\r\nLast-Modified: Mon, 13 Nov 2023 00:00:00 GMT\r\n",
  ]

  @Test("gives the answer that the long way gives", arguments: fields)
  func same(_ fields: String) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 5\r\n\r\nhello"), .readToEnd])
    let pawl = try TestServer(origin) { $0.cache = "memory-object = 32K" }
    _ = pawl.get()
    pawl.clock.advance(by: .seconds(3))
    // Into memory with its first use, if not before.
    _ = pawl.get()
    pawl.waitForBodyInMemory()
    let client = pawl.connect()
    client.send(TestServer.request())
    let short = client.readAnswer()
    // `TE` asks for nothing, and is not plain.
    client.send(TestServer.request("/f", ["TE: trailers"]))
    let long = client.readAnswer()
    #expect(short.lines.sorted() == long.lines.sorted())
    #expect(short.text == "hello" && long.text == "hello" && short["Age"] != nil)
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("is not taken for what is stale, and pipelined requests keep their order")
  func order() throws {
    let pawl = try TestServer.fresh(for: 5)
    let client = pawl.connect()
    let request = TestServer.request()
    client.send(request + request + TestServer.request("/f", ["Range: bytes=0-0"]) + request)
    #expect(
      (0..<4).map { _ in client.readAnswer() }.map { "\($0.status)\($0.text)" } == ["2001", "2001", "2061", "2001"])
    pawl.clock.advance(by: .seconds(5))
    client.send(request)
    #expect(client.readAnswer().text == "2")
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("the last answer of a connection says so, as the long way does, and the end comes with it")
  func last() throws {
    let pawl = try TestServer.fresh(for: 60)
    let (short, long) = (pawl.connect(), pawl.connect())
    short.send(TestServer.request("/f", ["Connection: close"]))
    long.send(TestServer.request("/f", ["Connection: close", "TE: trailers"]))
    let answers = [short.readAnswer(), long.readAnswer()]
    #expect(answers[0].lines.sorted() == answers[1].lines.sorted())
    #expect(answers.allSatisfy { $0.status == 200 && $0.text == "1" && $0["Connection"] == "close" })
    for client in [short, long] {
      let rest = client.readToEnd()
      #expect(rest.bytes == [] && rest.ending == .inOrder)
    }
    #expect(pawl.stop() == [])
  }

  @Test(
    "who sends more behind the last request gets its answer, and no reset",
    arguments: ["\r\n", "GET /f HTTP/1.1\r\nHost: a\r\n\r\n", String(repeating: "x", count: 100_000)],
    [[], ["TE: trailers"]])
  func more(_ rest: String, _ fields: [String]) throws {
    let pawl = try TestServer.fresh(for: 60)
    let client = pawl.connect()
    client.send(TestServer.request("/f", ["Connection: close"] + fields) + rest)
    #expect(client.readAnswer().text == "1")
    let end = client.readToEnd()
    #expect(end.bytes == [] && end.ending == .inOrder)
    #expect(pawl.stop() == [])
  }

  @Test(
    "after a reload gives nothing that the long way would not give, and is not taken for what goes round in a circle")
  func reload() throws {
    func whole(_ body: String, _ fields: String) -> OriginStep {
      .send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\n\(fields)Content-Length: 5\r\n\r\n\(body)"
      )
    }
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, whole("coded", "Content-Encoding: gzip\r\n"), .expectHead, whole("plain", ""), .readToEnd,
      ])
    let pawl = try TestServer(origin) { ($0.cache, $0.site) = ("memory-object = 32K", "origin-encoding = pass") }
    let client = pawl.connect()
    func ask(_ fields: String...) -> Answer {
      client.send(TestServer.request("/f", fields))
      return client.readAnswer()
    }
    for _ in 0..<2 { #expect(ask("Accept-Encoding: gzip").text == "coded") }
    pawl.server.reload(
      try TestServer.configuration(url: "http://127.0.0.1:\(origin.port)", in: pawl.folder) {
        $0.cache = "memory-object = 32K"
      })
    pawl.settle()
    #expect(ask().text == "plain" && ask("Accept-Encoding: gzip").text == "plain")
    #expect(ask("Via: 1.1 pawl, 1.1 a, 1.1 pawl").status == 200)
    #expect(ask("Via: 1.1 pawl, 1.1 a", "Via: 1.0 pawl, 2.0 Pawl").status == 502)
    client.close()
    #expect(pawl.stop() == [])
  }

  private static let large = OriginStep.pattern(from: 0, count: 200_000)

  /// A body that stays a file, stored.
  private func large(_ fields: String = "Cache-Control: max-age=60\r\n") throws -> TestServer {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(Self.large.count)\r\n\r\n"),
        .sendPattern(count: Self.large.count), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    #expect(pawl.get().content == Self.large)
    pawl.waitUntil("the body is complete") { pawl.stored()?.body.isComplete == true }
    return pawl
  }

  @Test(
    "gives parts of a file as the long way gives them",
    arguments: [
      "bytes=0-0", "bytes=1000-99999", "bytes=199999-", "bytes=-5", "bytes=5-999999", "bytes=0-199999", "bytes=7-",
    ])
  func parts(_ range: String) throws {
    let pawl = try large("Cache-Control: max-age=60\r\nContent-Digest: x=:AA==:\r\nContent-Type: a/b\r\n")
    let client = pawl.connect()
    client.send(TestServer.request("/f", ["Range: \(range)"]))
    let short = client.readAnswer()
    client.send(TestServer.request("/f", ["Range: \(range)", "TE: trailers"]))
    let long = client.readAnswer()
    #expect(short.status == 206 && short.lines.sorted() == long.lines.sorted())
    #expect(short.content == long.content)
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("gives a whole file as the long way gives it, and what it cannot give at once is not cut")
  func whole() throws {
    let pawl = try large()
    let client = pawl.connect()
    // Nobody reads while these are answered: sockets fill.
    let request = TestServer.request()
    for _ in 0..<60 { client.send(request) }
    client.send(TestServer.request("/f", ["TE: trailers"]))
    let answers = (0..<61).map { _ in client.readAnswer() }
    #expect(answers.allSatisfy { $0.status == 200 && $0.content == Self.large })
    #expect(answers[0].lines.sorted() == answers[60].lines.sorted())
    client.close()
    #expect(pawl.stop() == [])
    let lines = pawl.accessLog
    #expect(lines.count == 62 && lines.filter { $0.contains("\"hit\"") && $0.contains(":200000,") }.count == 61)
  }

  @Test(
    "leaves to the long way what is not one satisfiable range", arguments: ["bytes=200000-", "bytes=0-0,2-2", "x=1"])
  func others(_ range: String) throws {
    let pawl = try large()
    let client = pawl.connect()
    client.send(TestServer.request("/f", ["Range: \(range)"]))
    #expect(client.readAnswer().status == ["bytes=200000-": 416, "x=1": 200][range, default: 206])
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("goes on with what a client holds by the tag it was given, as the long way does, and with no other")
  func named() throws {
    let pawl = try large()
    let client = pawl.connect()
    client.send(TestServer.request())
    let tag = client.readAnswer()["ETag"] ?? ""
    let fields = ["Range: bytes=1000-", "If-Range: \(tag)"]
    client.send(TestServer.request("/f", fields))
    let short = client.readAnswer()
    client.send(TestServer.request("/f", fields + ["TE: trailers"]))
    let long = client.readAnswer()
    #expect(short.status == 206 && short.lines.sorted() == long.lines.sorted())
    #expect(short.content == Array(Self.large[1000...]) && long.content == short.content)
    client.send(TestServer.request("/f", ["Range: bytes=1000-", "If-Range: \"other\""]))
    #expect(client.readAnswer().status == 200)
    client.send(TestServer.request("/f", ["Range: bytes=1000-", "If-Range: W/\(tag)"]))
    #expect(client.readAnswer().status == 200)
    client.close()
    #expect(pawl.stop() == [])
  }
}
