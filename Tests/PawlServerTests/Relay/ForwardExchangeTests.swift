import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A request passed on as it is") struct ForwardExchangeTests {
  private func request(_ lines: String..., content: String = "") -> String {
    lines.map { "\($0)\r\n" }.joined() + "Host: site\r\nX-Request-Id: r\r\n\r\n" + content
  }

  /// What pawl adds to a request's own fields.
  private func added(_ port: UInt16) -> String {
    "Host: site\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: site\r\n"
      + "X-Forwarded-Port: \(port)\r\nX-Real-IP: 127.0.0.1\r\nVia: 1.1 pawl\r\n"
  }

  @Test("content goes both ways, chunked or counted, and the message with it", arguments: Fragmenter.allCases)
  func post(_ fragmenter: Fragmenter) throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .read(5),
        .sendEachByte("HTTP/1.1 201 Created\r\nLocation: /x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
        .readToEnd,
      ],
      [
        .expectHead, .read(15),
        .sendEachByte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Content-Length: 5", content: "12345"), fragmenter)
    let first = client.readAnswer()
    #expect(
      first.shown == """
        HTTP/1.1 201 Created
        Location: /x
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: 2


        """)
    #expect(first.text == "ok")
    client.send(
      request("PUT /f HTTP/1.1", "Transfer-Encoding: chunked", content: "5\r\n12345\r\n0\r\n\r\n"), fragmenter)
    let second = client.readAnswer()
    #expect(
      second.shown == """
        HTTP/1.1 200 OK
        Date: \(today)
        Via: 1.1 pawl
        Transfer-Encoding: chunked


        """)
    #expect(second.text == "ok" && second.isWhole)
    client.close()
    #expect(pawl.stop() == [])
    let sent = origin.received.map { String(decoding: $0, as: UTF8.self) }
    try #require(sent.count == 2)
    #expect(sent[0].hasPrefix("POST /f HTTP/1.1\r\n") && sent[0].hasSuffix("\r\n\r\n12345"))
    #expect(sent[1].hasPrefix("PUT /f HTTP/1.1\r\n") && sent[1].hasSuffix("\r\n0\r\n\r\n"))
    for line in added(pawl.port).split(separator: "\r\n") {
      for request in sent { #expect(request.contains("\r\n\(line)\r\n"), "\(line)") }
    }
    #expect(sent[0].split(separator: "\r\nContent-Length: 5\r\n").count == 2 && !sent[0].contains("chunked"))
    #expect(sent[1].split(separator: "\r\nTransfer-Encoding: chunked\r\n").count == 2)
  }

  @Test("every 1xx is passed on, and 100 where the client waits for it")
  func interim() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .read(2),
        .send("HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\nHTTP/1.1 104 Upload Resumption Supported\r\n\r\n"),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Expect: 100-continue", "Content-Length: 2"))
    #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("ok")
    let answer = client.readAnswer()
    #expect(
      answer.interim == [
        "HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n", "HTTP/1.1 104 Upload Resumption Supported\r\n\r\n",
      ])
    #expect(answer.status == 200)
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("an origin that says nothing to Expect is not waited for longer than a second")
  func ownContinue() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .read(2), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Expect: 100-continue", "Content-Length: 2"))
    pawl.waitUntil("the origin has the head") { origin.received.first?.suffix(4) == [13, 10, 13, 10] }
    pawl.settle()
    #expect(client.isQuiet)
    pawl.clock.advance(by: .seconds(1))
    #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("ok")
    #expect(client.readAnswer().status == 200)
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test(
    "an answer before the end of the request reaches the client; the connection does not outlive it",
    arguments: ["on", "off"])
  func early(_ buffering: String) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")])
    let pawl = try TestServer(origin) { $0.site = "request-buffering = \(buffering)" }
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Content-Length: 1000000", content: "x"))
    // Whoever sends no more for three seconds waits for an answer.
    pawl.settle()
    if buffering == "on" {
      pawl.clock.advance(by: .milliseconds(2999))
      pawl.settle()
      #expect(origin.acceptedCount == 0)
      pawl.clock.advance(by: .milliseconds(1))
    }
    let answer = client.readAnswer()
    #expect(answer.status == 413 && answer.text == "no" && answer["Connection"] == "close")
    #expect(client.readToEnd() == ([], .inOrder))
    #expect(pawl.stop() == [])
  }

  @Test(
    "the origin hears of a request when its content is here: before that it takes no place", arguments: [10, 400_000])
  func held(_ count: Int) throws {
    let bytes = OriginStep.pattern(from: 0, count: count)
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .expectHead, .read(count),
        .send("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nme"), .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.upstream = "max-connections = 1" }
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Content-Length: \(count)"))
    pawl.settle()
    // What comes slowly is gathered, first in memory, then in a file.
    for start in stride(from: 0, to: count - 1, by: 100_000) {
      pawl.clock.advance(by: .seconds(1))
      client.send(Array(bytes[start..<min(start + 100_000, count - 1)]))
      pawl.settle()
    }
    #expect(origin.acceptedCount == 0)
    #expect(pawl.ask(request("POST /other HTTP/1.1", "Content-Length: 0")).text == "ok")
    client.send(Array(bytes.suffix(1)))
    let answer = client.readAnswer()
    #expect(answer.status == 201 && answer.text == "me")
    client.close()
    #expect(pawl.stop() == [])
    #expect(origin.received[0].suffix(count) == bytes[...])
  }

  @Test("what has no announced length is a stream: the origin has it as it comes, and answers meanwhile")
  func stream() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .read(6), .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"), .read(11),
        .send("1\r\nb\r\n0\r\n\r\n"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(request("POST /f HTTP/1.1", "Transfer-Encoding: chunked", content: "1\r\n1\r\n"))
    #expect(client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    client.send("1\r\n2\r\n0\r\n\r\n")
    let rest = String(decoding: client.read(17), as: UTF8.self)
    #expect(rest == "1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("HEAD says what a GET would, and has no content")
  func head() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v\"\r\n\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(request("HEAD /f HTTP/1.1"))
    #expect(
      client.readAnswer(isHead: true).shown == """
        HTTP/1.1 200 OK
        ETag: "v"
        Cache-Status: pawl; fwd=uri-miss; fwd-status=200
        Accept-Ranges: bytes
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: 10


        """)
    #expect(client.isQuiet)
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("an origin that cannot be reached, or does not speak HTTP, is named in the answer")
  func failures() throws {
    let closed = try TestServer(url: "http://127.0.0.1:\(ScriptedOrigin.closedPort())")
    let refused = closed.ask(request("POST /f HTTP/1.1", "Content-Length: 0"))
    #expect(refused.status == 502)
    #expect(refused["Proxy-Status"]?.hasPrefix("pawl; error=connection_refused") == true)
    #expect(refused.text.hasSuffix("(connection_refused, request r)\n"))
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send("SSH-2.0-x\r\n\r\n")])
    let pawl = try TestServer(origin)
    let garbled = pawl.ask(request("POST /f HTTP/1.1", "Content-Length: 0"))
    #expect(garbled.status == 502)
    #expect(garbled["Proxy-Status"]?.hasPrefix("pawl; error=http_protocol_error") == true)
    #expect(pawl.record(1, "status", "ended_by", "end_reason") == ["502", "origin", "http_protocol_error"])
    #expect(pawl.stop() == [])
  }

  @Test("an answer that breaks off ends the client's body visibly")
  func broken() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .reset],
      [.expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")])
    let pawl = try TestServer(origin)
    for _ in 0..<2 {
      let client = pawl.connect()
      client.send(request("POST /f HTTP/1.1", "Content-Length: 0"))
      let answer = client.readAnswer()
      #expect(answer.status == 200 && answer.text == "half" && !answer.isWhole)
      #expect(client.ending == .inOrder)
    }
    #expect(pawl.events("transfer-cut").count == 2)
    #expect(pawl.stop() == [])
  }

  @Test(
    "an unsafe request that succeeded makes what is stored for its URL go (RFC 9111 §4.4)",
    arguments: [
      ("200 OK", false), ("404 Not Found", true),
    ])
  func invalidation(_ status: String, _ stays: Bool) throws {
    let cached = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send(cached + "v1"),
      ],
      [.expectHead, .send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")],
      [.answerAll(cached + "v2")])
    let pawl = try TestServer(origin)
    #expect(pawl.get().text == "v1")
    #expect(pawl.get().text == "v1")
    #expect(pawl.ask(request("POST /f HTTP/1.1", "Content-Length: 0")).lines[0] == "HTTP/1.1 \(status)")
    pawl.settle()
    #expect(pawl.get().text == (stays ? "v1" : "v2"))
    #expect(pawl.stop() == [])
  }

  @Test("a request that goes in a circle is ended")
  func loops() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let answer = pawl.ask(request("POST /f HTTP/1.1", "Via: 1.1 pawl, 1.1 pawl, 1.1 pawl", "Content-Length: 0"))
    #expect(answer.status == 502 && answer["Proxy-Status"] == "pawl; error=proxy_loop_detected")
  }

  @Test("h2c is not passed on; the request is answered in HTTP/1.1")
  func http2() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    let answer = pawl.get("/f", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ")
    #expect(answer.status == 200)
    #expect(pawl.stop() == [])
    let sent = origin.received.first.map { String(decoding: $0, as: UTF8.self).lowercased() } ?? ""
    #expect(!sent.contains("upgrade") && !sent.contains("http2-settings"))
  }
}
