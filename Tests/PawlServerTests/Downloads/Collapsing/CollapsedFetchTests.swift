import PawlTestKit
import Testing

@testable import PawlServer

@Suite("One fetch for all who wait") struct CollapsedFetchTests {
  private static func answer(
    _ text: String, _ fields: String = "Cache-Control: max-age=60\r\n", status: String = "200 OK"
  ) -> OriginStep {
    .send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
  }

  /// Three clients that ask while the origin has not answered.
  private func together(_ origin: [[OriginStep]], _ gate: Gate) throws -> (TestServer, ScriptedOrigin, [Answer]) {
    let origin = ScriptedOrigin(.tcp, scripts: origin)
    let pawl = try TestServer(origin)
    let clients = (0..<3).map { _ in pawl.connect() }
    for client in clients {
      client.send(TestServer.request())
      pawl.settle()
    }
    gate.open()
    return (pawl, origin, clients.map { $0.readAnswer() })
  }

  @Test("concurrent misses are one request to the origin; the answers say so")
  func collapsed() throws {
    let gate = Gate()
    let (pawl, origin, answers) = try together([[.expectHead, .wait(gate), Self.answer("ok"), .readToEnd]], gate)
    #expect(answers.map(\.text) == ["ok", "ok", "ok"])
    #expect(
      answers.map { $0["Cache-Status"] ?? "" } == [
        "pawl; fwd=uri-miss; fwd-status=200; stored", "pawl; fwd=uri-miss; fwd-status=200; stored; collapsed",
        "pawl; fwd=uri-miss; fwd-status=200; stored; collapsed",
      ])
    #expect(Set(answers.map { $0["ETag"] ?? "" }).count == 1)
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("what one request may have provoked is its own: one of the others asks for them")
  func failure() throws {
    let gate = Gate()
    let (pawl, origin, answers) = try together(
      [
        [.expectHead, .wait(gate), .send("garbage\r\n\r\n")], [.expectHead, Self.answer("2"), .readToEnd],
      ], gate)
    #expect(answers[0].status == 502)
    #expect(answers[0]["Proxy-Status"]?.hasPrefix("pawl; error=http_protocol_error") == true)
    #expect(answers[1...].map(\.text) == ["2", "2"] && origin.acceptedCount == 2)
    #expect(pawl.stop() == [])
  }

  @Test("what is not to be shared goes to the one who asked; the others ask for themselves")
  func notShared() throws {
    let gate = Gate()
    func script(_ text: String, _ gate: Gate?) -> [OriginStep] {
      [.expectHead] + (gate.map { [.wait($0)] } ?? []) + [
        Self.answer(text, "Cache-Control: private\r\nConnection: close\r\n")
      ]
    }
    let (pawl, origin, answers) = try together([script("1", gate), script("2", nil), script("3", nil)], gate)
    #expect(answers.map(\.text).sorted() == ["1", "2", "3"] && answers[0].text == "1")
    for answer in answers { #expect(answer["Cache-Status"] == "pawl; fwd=uri-miss; fwd-status=200") }
    #expect(pawl.stop() == [] && origin.acceptedCount == 3)
  }

  @Test("a leader that leaves does not take the others' answer with it")
  func leaderLeaves() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), Self.answer("ok"), .readToEnd])
    let pawl = try TestServer(origin)
    let (leader, other) = (pawl.connect(), pawl.connect())
    leader.send(TestServer.request())
    pawl.settle()
    other.send(TestServer.request())
    pawl.settle()
    leader.close()
    pawl.settle()
    gate.open()
    #expect(other.readAnswer().text == "ok")
    other.close()
    #expect(pawl.stop() == [])
  }

  @Test("stale answers are validated with what the origin gave: 304 freshens, 200 replaces")
  func validation() throws {
    let fields = "Cache-Control: max-age=5\r\nETag: \"v1\"\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.answer("one", fields), .expectEnd,
      ],
      [
        .expectHead, .send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=9\r\nETag: \"v1\"\r\n\r\n"),
        .expectEnd,
      ],
      [.expectHead, Self.answer("two", "Cache-Control: max-age=5\r\nETag: \"v2\"\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.get().text == "one")
    pawl.clock.advance(by: .seconds(6))
    let freshened = pawl.get()
    #expect(freshened.text == "one" && freshened["Cache-Status"] == "pawl; fwd=stale; fwd-status=304")
    #expect(freshened["Cache-Control"] == "max-age=9")
    #expect(pawl.get()["Cache-Status"] == "pawl; hit; ttl=9")
    pawl.clock.advance(by: .seconds(10))
    let replaced = pawl.get()
    #expect(replaced.text == "two" && replaced["Cache-Status"] == "pawl; fwd=stale; fwd-status=200; stored")
    #expect(pawl.stop() == [])
    let sent = origin.received.map { String(decoding: $0, as: UTF8.self).contains("\r\nIf-None-Match: \"v1\"\r\n") }
    #expect(sent == [false, true, true])
  }

  @Test("stale-if-error answers from the store while the origin is in trouble", arguments: [true, false])
  func staleIfError(_ answers: Bool) throws {
    let trouble: [OriginStep] = answers ? [Self.answer("no", "", status: "503 Busy")] : []
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.answer("ok", "Cache-Control: max-age=5\r\nETag: \"v\"\r\nConnection: close\r\n")],
      [.expectHead] + trouble)
    let pawl = try TestServer(origin) { $0.site = "stale-if-error = 1m" }
    #expect(pawl.get().text == "ok")
    pawl.clock.advance(by: .seconds(6))
    let stale = pawl.get()
    #expect(stale.status == 200 && stale.text == "ok")
    #expect(stale["Cache-Status"]?.hasSuffix("; detail=stale-on-error") == true)
    #expect(pawl.stop() == [])
  }

  @Test(
    "a part or a 304 that nobody asked for is a failure of the origin",
    arguments: [
      "206 Partial Content\r\nContent-Range: bytes 0-1/4\r\nContent-Length: 2\r\n\r\nok", "304 Not Modified\r\n\r\n",
    ])
  func unasked(_ answer: String) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.1 \(answer)"), .readToEnd])
    let pawl = try TestServer(origin)
    let reply = pawl.get()
    #expect(reply.status == 502)
    #expect(reply["Proxy-Status"]?.hasPrefix("pawl; error=http_protocol_error; received-status=") == true)
    #expect(pawl.stop() == [])
  }

  @Test("each variant is its own answer (Vary)")
  func variants() throws {
    let fields = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.answer("english", fields), .expectHead, Self.answer("deutsch", fields), .readToEnd])
    let pawl = try TestServer(origin)
    #expect(pawl.get("/f", "Accept-Language: en").text == "english")
    let other = pawl.get("/f", "Accept-Language: de")
    #expect(other.text == "deutsch" && other["Cache-Status"] == "pawl; fwd=vary-miss; fwd-status=200; stored")
    #expect(pawl.get("/f", "Accept-Language: en").text == "english")
    #expect(pawl.get("/f", "Accept-Language: de").text == "deutsch")
    #expect(pawl.stop() == [])
  }

  @Test("Set-Cookie goes to the one whose request brought it, and to nobody else")
  func cookies() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.answer("ok", "Cache-Control: public, max-age=60\r\nSet-Cookie: a=1\r\n"), .readToEnd])
    let pawl = try TestServer(origin)
    let (first, second) = (pawl.get(), pawl.get())
    #expect(second.text == "ok" && second["Set-Cookie"] == nil)
    #expect(first["Set-Cookie"] == "a=1" && second["Cache-Status"] == "pawl; hit; ttl=60")
    #expect(pawl.stop() == [])
  }
}
