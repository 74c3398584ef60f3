import PawlDisk
import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A client's connection") struct HTTP1ConnectionTests {
  private static let answer = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok"
  private static let shown = """
    HTTP/1.1 200 OK
    Cache-Control: no-store
    Cache-Status: pawl; fwd=uri-miss; fwd-status=200
    Date: \(today)
    Via: 1.1 pawl
    Content-Length: 2


    """

  @Test("a request may come in any pieces; its answer is the same", arguments: Fragmenter.allCases)
  func pieces(_ fragmenter: Fragmenter) throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    for _ in 0..<2 {
      client.send(TestServer.request(), fragmenter)
      let answer = client.readAnswer()
      #expect(answer.shown == Self.shown)
      #expect(answer.text == "ok")
    }
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("pipelined requests are answered in their order", arguments: Fragmenter.allCases)
  func pipelining(_ fragmenter: Fragmenter) throws {
    let gate = Gate()
    let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 1\r\n\r\n"
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .send(head + "1"), .answerAll(head + "3")])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(
      TestServer.request("/1") + "OPTIONS * HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\n\r\n"
        + TestServer.request("/3", ["Connection: close"]), fragmenter)
    gate.open()
    #expect(client.readAnswer().text == "1")
    let options = client.readAnswer()
    #expect(options["Allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    #expect(client.readAnswer().text == "3")
    #expect(client.readToEnd().ending == .inOrder)
    #expect(pawl.stop() == [])
  }

  @Test("a client that sent FIN is still answered; then the connection ends")
  func halfClose() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .send(Self.answer), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    client.halfClose()
    gate.open()
    #expect(client.readAnswer().text == "ok")
    #expect(client.readToEnd() == ([], .inOrder))
    #expect(pawl.stop() == [])
  }

  @Test("a client that had closed its connection before the answer came has no answer in the log")
  func closedWhileItWaits() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .send(Self.answer), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    pawl.waitUntil("the origin has the request") { !origin.received.isEmpty }
    client.close()
    gate.open()
    #expect(pawl.record(1, "status", "bytes", "ended_by") == ["0", "0", "client"])
    #expect(pawl.stop() == [])
    #expect(pawl.events("transfer-cut").isEmpty)
  }

  @Test("a reset behind FIN ends the request to the origin while its response is awaited")
  func resetBehindFIN() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    client.halfClose()
    pawl.waitUntil("the origin has the request") { !origin.received.isEmpty }
    pawl.settle()
    client.reset()
    pawl.clock.advance(by: .milliseconds(249))
    pawl.settle()
    #expect(pawl.accessLog.isEmpty)
    pawl.clock.advance(by: .milliseconds(1))
    #expect(pawl.record(1, "status", "bytes", "ended_by") == ["0", "0", "client"])
    #expect(pawl.stop() == [])
  }

  @Test("a client that leaves in the middle of a body is told of once, at info")
  func leavesInTheMiddle() throws {
    let gate = Gate()
    let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 9\r\n\r\n"
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(head + "half"), .wait(gate), .send("whole"), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    client.reset()
    #expect(pawl.record(1, "status", "ended_by", "end_reason") == ["200", "client", "reset"])
    gate.open()
    #expect(pawl.stop() == [])
    let cut = try #require(pawl.events("transfer-cut").first)
    #expect(pawl.events("transfer-cut").count == 1)
    #expect(cut.contains("info transfer-cut by=client why=reset target=/f sent=4 request=r of=9 client=127.0.0.1 "))
  }

  @Test("requests sent in one go before FIN are all answered, whenever the FIN is read", arguments: [1, 2, 5])
  func pipelinedHalfClose(_ behind: Int) throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    // The FIN has to come between two answers, which it does now and then.
    for attempt in 0..<300 {
      let client = pawl.connect()
      client.send((0...behind).map { TestServer.request("/\($0)") }.joined())
      client.halfClose()
      let texts = (0...behind).map { _ in client.readAnswer().text }
      guard texts == Array(repeating: "ok", count: behind + 1), client.readToEnd() == ([], .inOrder) else {
        Issue.record("attempt \(attempt): \(texts)")
        break
      }
    }
    #expect(pawl.stop() == [])
  }

  @Test(
    "a request that FIN cuts is not answered; those before it are",
    arguments: [
      "GET /c HTTP/1.1\r\nHost: si", "POST /c HTTP/1.1\r\nHost: site\r\nContent-Length: 9\r\n\r\n12345678",
    ])
  func cutByHalfClose(_ cut: String) throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin) { $0.site = "plain-uploads = spool" }
    for _ in 0..<100 {
      let client = pawl.connect()
      client.send(TestServer.request("/1") + TestServer.request("/2") + cut)
      client.halfClose()
      #expect(client.readAnswer().text == "ok")
      #expect(client.readAnswer().text == "ok")
      #expect(client.readToEnd() == ([], .inOrder))
    }
    #expect(pawl.stop() == [])
  }

  @Test("HTTP/1.0 gets HTTP/1.0: no chunks, and the end of the connection ends the body")
  func oldClients() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead,
        .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send("GET /f HTTP/1.0\r\nHost: site\r\nX-Request-Id: r\r\nConnection: keep-alive\r\n\r\n")
    let answer = client.readAnswer()
    #expect(
      answer.shown == """
        HTTP/1.1 200 OK
        Cache-Control: no-store
        Cache-Status: pawl; fwd=uri-miss; fwd-status=200
        Date: \(today)
        Via: 1.1 pawl
        Connection: close


        """)
    #expect(answer.text == "ok" && answer.isWhole)
    #expect(pawl.stop() == [])
  }

  @Test("HTTP/1.0 with keep-alive keeps its connection where the length is known")
  func oldKeepAlive() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    for _ in 0..<2 {
      client.send("GET /f HTTP/1.0\r\nHost: site\r\nX-Request-Id: r\r\nConnection: keep-alive\r\n\r\n")
      let answer = client.readAnswer()
      #expect(answer["Connection"] == "keep-alive" && answer.text == "ok")
    }
    client.send("GET /f HTTP/1.0\r\nHost: site\r\n\r\n")
    #expect(client.readAnswer().text == "ok")
    #expect(client.readToEnd().ending == .inOrder)
    #expect(pawl.stop() == [])
  }

  @Test(
    "what cannot be read is refused, whatever comes behind it, and the refusal is read in full",
    arguments: Fragmenter.allCases)
  func refused(_ fragmenter: Fragmenter) throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = pawl.connect()
    client.send("GET /f HTTP/1.1\r\nHost : site\r\n\r\n", fragmenter)
    let answer = client.readAnswer()
    #expect(answer.status == 400)
    #expect(answer["Connection"] == "close" && answer["Date"] == today)
    #expect(answer["Proxy-Status"]?.hasPrefix("pawl; error=http_request_error; details=") == true)
    #expect(answer.text.hasPrefix("400 Bad Request\n\n") && answer.isWhole)
    // Still being sent when the answer had left: it must not turn into a reset.
    client.send([UInt8](repeating: 0x78, count: 1000))
    #expect(client.readToEnd() == ([], .inOrder))
    #expect(pawl.record(1, "status", "ended_by", "end_reason") == ["400", "client", "refused"])
  }

  @Test("nothing at all is just an end, as soon as the kernel has given up waiting for the first byte")
  func silentClient() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.listen = "header-timeout = 3s" }
    let silent = pawl.connect()
    #expect(pawl.advancing { silent.readToEnd() } == ([], .inOrder))
  }

  @Test("a head that takes too long is answered 408")
  func headerTimeout() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.listen = "header-timeout = 3s" }
    let slow = pawl.connect()
    slow.send("GET /f HT")
    pawl.settle()
    pawl.clock.advance(by: .milliseconds(2999))
    slow.send("TP/1.1\r\n")
    pawl.settle()
    #expect(slow.isQuiet)
    pawl.clock.advance(by: .milliseconds(1))
    let answer = slow.readAnswer()
    #expect(answer.status == 408)
    #expect(answer.text == "408 Request Timeout\n\nThe request head did not arrive in time.\n")
  }

  @Test("an idle connection ends after keepalive-timeout")
  func keepalive() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.listen = "keepalive-timeout = 9s" }
    let client = pawl.connect()
    client.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
    #expect(client.readAnswer().status == 200)
    pawl.settle()
    pawl.clock.advance(by: .milliseconds(8999))
    pawl.settle()
    #expect(client.isQuiet)
    pawl.clock.advance(by: .milliseconds(1))
    #expect(client.readToEnd() == ([], .inOrder))
  }

  @Test("a client that takes nothing for send-timeout is cut off, and the log says so")
  func sendTimeout() throws {
    let size = 16 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .sendPattern(count: size), .readToEnd])
    let pawl = try TestServer(origin) { $0.listen = "send-timeout = 5s" }
    let client = pawl.connect(receiveBuffer: 4096)
    client.send(TestServer.request())
    _ = client.readHead()
    // Held in full, the body waits for the client alone.
    pawl.waitForHeld(UInt64(size))
    pawl.settle()
    pawl.clock.advance(by: .seconds(5))
    #expect(pawl.record(1, "ended_by", "end_reason") == ["client", "send-timeout"])
    #expect(client.readToEnd().ending == .reset)
    #expect(pawl.stop() == [])
  }

  @Test("request content that comes more slowly than min-rate is refused")
  func minRate() throws {
    let (first, second) = (Gate(), Gate())
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .read(1024), .open(first), .read(1023), .open(second), .readToEnd])
    // The clock may move before the origin has accepted.
    let pawl = try TestServer(origin) {
      $0 = .init(upstream: "connect-timeout = 1h", site: "request-buffering = off")
    }
    let client = pawl.connect()
    client.send("POST /f HTTP/1.1\r\nHost: site\r\nContent-Length: 9999\r\n\r\n")
    client.send([UInt8](repeating: 0x78, count: 1024))
    #expect(first.wait())
    pawl.clock.advance(by: .seconds(60))
    pawl.settle()
    #expect(client.isQuiet, "fast enough so far")
    client.send([UInt8](repeating: 0x78, count: 1023))
    #expect(second.wait())
    pawl.settle()
    pawl.clock.advance(by: .seconds(60))
    let answer = client.readAnswer()
    #expect(answer.status == 408)
    #expect(answer.text.hasSuffix("The request body arrived more slowly than min-rate allows.\n"))
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("content that breaks its own framing is refused, and the origin is told by a broken connection")
  func malformedBody() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send("POST /f HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
    pawl.waitUntil("the origin has the first byte") { origin.received.first?.suffix(3) == [0x78, 13, 10] }
    client.send("zz\r\n")
    let answer = client.readAnswer()
    #expect(answer.status == 400 && answer["Connection"] == "close")
    #expect(client.readToEnd() == ([], .inOrder))
    #expect(pawl.stop() == [])
    #expect(origin.received.first.map { !String(decoding: $0, as: UTF8.self).hasSuffix("0\r\n\r\n") } == true)
  }

  @Test("a client that leaves in the middle of its request leaves no request behind")
  func leaves() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send("POST /f HTTP/1.1\r\nHost: site\r\nContent-Length: 10\r\n\r\nabc")
    client.halfClose()
    #expect(client.readToEnd().bytes == [])
    #expect(pawl.record(1, "status", "ended_by", "end_reason") == ["0", "client", "incomplete-request-body"])
    #expect(pawl.stop() == [])
  }

  @Test("no more clients than max-connections")
  func connectionLimit() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.pawl = "max-connections = 1" }
    let first = pawl.connect()
    first.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
    #expect(first.readAnswer().status == 200)
    let second = pawl.connect()
    #expect(second.readToEnd().bytes == [])
    first.close()
    let failures = FailureLog(events: EventLog { _ in }, clock: ManualClock())
    pawl.waitUntil("the first one's place is free") { pawl.server.admission.admit(failures) }
    pawl.server.admission.release()
    #expect(pawl.connect().send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n"))
  }
}
