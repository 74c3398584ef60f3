import PawlHTTP
import Testing

@testable import PawlWire

@Suite("HTTP/2 session: answers that are there as a whole") struct HTTP2ReadyTests {
  private static func fields(_ lines: [(String, String)]) -> Fields {
    var fields = Fields()
    for (name, value) in lines { fields.append(named: latin(name), latin(value)) }
    return fields
  }

  private static let head = HTTP2FixedHead(
    status: 200, fields([("Content-Type", "text/plain"), ("Connection", "close"), ("X-Mixed", "A b")]), length: 5)

  private static func serving(_ body: String = "hello") -> HTTP2Serving {
    let server = HTTP2Serving()
    server.ready["/r"] = (HTTP2ReadyAnswer(head, body: latin(body)), [])
    return server
  }

  private static let shown = "200|content-type: text/plain|x-mixed: A b|content-length: 5"

  @Test(
    "goes out with its own fields and those of the moment, in any pieces, and its end is told",
    arguments: [Int.max, 1, 7])
  func exchange(_ piece: Int) {
    let (server, client) = (Self.serving(), HTTP2Client())
    for number in 0..<3 {
      server.ready["/r"]?.more = [("age", "\(number)", false), ("x-request-id", "id-\(number)", true)]
      let stream = client.request("GET", "/r", [("accept", "*/*")])
      client.talk(to: server, piece: piece)
      #expect(
        client.answers[stream]
          == HTTP2Client.Answer(
            head: Self.shown + "|age: \(number)|x-request-id: id-\(number)", content: latin("hello"), code: 0))
    }
    #expect(
      server.takeEvents()
        == [1, 3, 5].flatMap { ["ready \($0)", "answered \($0)", "closed-ready \($0) nil 5"] })
    #expect(server.session.streamCount == 0 && server.session.readyCount == 0)
    #expect(!server.session.wantsToSend)
  }

  @Test("what is not there is told as any other request, whole and in its order")
  func declined() {
    let (server, client) = (Self.serving(), HTTP2Client())
    server.onBegan = { stream, _ in server.answer(stream, 204) }
    client.request("GET", "/a", [("cookie", "a=1"), ("x-b", "2"), ("cookie", "c=3")])
    client.request("GET", "/r")
    client.request("GET", "/c", [("host", "a")])
    client.talk(to: server)
    #expect(
      server.takeEvents().filter { !$0.hasPrefix("answered") && !$0.hasPrefix("closed") } == [
        "began 1 GET /a a none|cookie: a=1; c=3|x-b: 2", "ended 1", "ready 3", "began 5 GET /c a none", "ended 5",
      ])
    #expect(client.answers.mapValues(\.head) == [1: "204", 3: Self.shown, 5: "204"])
  }

  @Test(
    "only a GET that asks for the representation as it is, and whose head is complete, is plain",
    arguments: [
      ("HEAD", [], false), ("GET", [("range", "bytes=0-1")], false), ("GET", [("cache-control", "no-cache")], false),
      ("GET", [("if-none-match", "\"a\"")], false), ("GET", [("authorization", "x")], false),
      ("GET", [("te", "trailers")], false), ("GET", [("content-length", "0")], false),
      ("GET", [("x-request-id", "a"), ("x-request-id", "b")], false), ("GET", [("via", "1.1 other")], false),
      ("GET", [("cookie", "a=b"), ("x-request-id", "a"), ("x-forwarded-proto", "https")], true),
    ] as [(String, [(String, String)], Bool)])
  func plain(_ method: String, _ fields: [(String, String)], _ isPlain: Bool) {
    let (server, client) = (Self.serving(), HTTP2Client())
    server.onBegan = { stream, _ in server.answer(stream, 204) }
    client.request(method, "/r", fields)
    client.talk(to: server)
    #expect(client.answers[1]?.head == (isPlain ? Self.shown : "204"))
    guard isPlain, let get = server.gets.first else { return }
    #expect(get.hasCookie && get.namesScheme)
    #expect(get.requestID.map { get.bytes[$0].text } == "a" && get.bytes[get.authority].text == "a")
    #expect(get.first(.cookie).map { get.bytes[$0].text } == "a=b" && get.first(.referer) == nil)
  }

  @Test("a plain request that breaks a rule is refused as on the long way")
  func refused() {
    let server = opened()
    server.receive(
      .headers(1, [(":method", "GET"), (":scheme", "ftp"), (":path", "/"), (":authority", "a")]),
      .get(7, more: [("host", "b")]))
    #expect(server.takeEvents() == ["refused 1 400", "refused 7 400"])
  }

  @Test("one that is reset within the same bytes is not looked at; one that is reset later stops")
  func reset() {
    let server = opened(HTTP2Settings(), [.settings([(4, 2)])])
    server.ready["/r"] = (HTTP2ReadyAnswer(Self.head, body: latin("hello")), [])
    server.receive(.get(1, "/r"), .reset(1))
    #expect(server.gets.isEmpty && server.takeEvents() == [])
    server.receive(.get(3, "/r"))
    #expect(server.lines() == ["HEADERS 3", "DATA 3 2"])
    server.receive(.reset(3))
    #expect(server.takeEvents() == ["ready 3", "closed-ready 3 8 2"])
    #expect(server.lines() == [] && server.session.readyCount == 0 && server.session.streamCount == 0)
    server.receive(.get(5, "/r"), .window(5, 10))
    #expect(server.lines() == ["HEADERS 5", "DATA 5 5 end"])
  }

  @Test("an answer larger than the window waits for credit; who gives none is stuck after a while")
  func windows() {
    let server = opened(HTTP2Settings(), [.settings([(4, 3)])])
    server.ready["/r"] = (HTTP2ReadyAnswer(Self.head, body: latin("hello")), [])
    server.receive(.get(1, "/r"))
    #expect(server.lines() == ["HEADERS 1", "DATA 1 3"])
    let start = server.now
    #expect(server.session.stuckReady(for: 10, at: start + 9, stuckSince: nil) == [])
    // Three bytes went since it was looked at last.
    #expect(server.session.stuckReady(for: 10, at: start + 12, stuckSince: nil) == [])
    #expect(server.session.stuckReady(for: 10, at: start + 19, stuckSince: nil) == [1])
    #expect(server.session.unfinishedReady == [1] && server.session.readySent(of: 1) == 3)
    server.receive(.window(1, 1))
    #expect(server.lines() == ["DATA 1 1"])
    #expect(server.session.stuckReady(for: 10, at: start + 20, stuckSince: nil) == [])
    server.receive(.window(1, 10))
    // It waits for its turn now.
    #expect(server.session.stuckReady(for: 10, at: start + 99, stuckSince: nil) == [])
    #expect(server.lines() == ["DATA 1 1 end"])
    #expect(server.session.readyCount == 0 && server.session.unfinishedReady == [])
  }

  @Test("a head beyond one frame, and a body beyond one, come whole")
  func large() {
    let server = HTTP2Serving()
    let (long, body) = (String(repeating: "x", count: 40_000), [UInt8](repeating: 0x62, count: 100_000))
    let head = HTTP2FixedHead(status: 200, Self.fields([("X-Long", long)]), length: UInt64(body.count))
    server.ready["/r"] = (HTTP2ReadyAnswer(head, body: body), [])
    let client = HTTP2Client()
    let streams = (0..<3).map { _ in client.request("GET", "/r") }
    client.talk(to: server)
    for stream in streams {
      #expect(client.answers[stream]?.head == "200|x-long: \(long)|content-length: 100000")
      #expect(client.answers[stream]?.content == body && client.answers[stream]?.code == 0)
    }
    // They take turns.
    #expect(client.order.prefix(3) == [1, 3, 5])
  }

  @Test("more at once than are kept room for, over and over")
  func many() {
    let server = Self.serving()
    let client = HTTP2Client()
    for _ in 0..<3 {
      let streams = (0..<100).map { _ in client.request("GET", "/r") }
      client.talk(to: server)
      for stream in streams { #expect(client.answers[stream]?.head == Self.shown) }
    }
    #expect(server.session.plainHeads.count <= 16)
  }

  @Test("a session that drains or ends lets go of them")
  func ends() {
    let server = opened(HTTP2Settings(), [.settings([(4, 3)])])
    server.ready["/r"] = (HTTP2ReadyAnswer(Self.head, body: latin("hello")), [])
    server.receive(.get(1, "/r"))
    _ = server.lines()
    server.session.drain()
    server.receive(.window(1, 10))
    #expect(server.lines().contains("DATA 1 2 end"))
    let other = opened(HTTP2Settings(), [.settings([(4, 3)])])
    other.ready = server.ready
    other.receive(.get(1, "/r"))
    other.session.end(.noError)
    #expect(other.lines() == ["GOAWAY 1 0"])
    #expect(other.session.unfinishedReady == [1])
  }
}
