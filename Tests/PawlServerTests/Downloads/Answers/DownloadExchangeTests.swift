import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A download") struct DownloadExchangeTests {
  private static func answer(_ text: String, _ fields: String = "", status: String = "200 OK") -> OriginStep {
    .send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
  }

  private func sent(_ origin: ScriptedOrigin, _ connection: Int = 0) -> String {
    origin.received.indices.contains(connection) ? String(decoding: origin.received[connection], as: UTF8.self) : ""
  }

  @Test("gets a tag and ranges even from an origin that has neither, and goes on with them")
  func mintedTag() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, Self.answer("0123456789"), .readToEnd])
    let pawl = try TestServer(origin)
    let first = pawl.get()
    #expect(
      first.shown == """
        HTTP/1.1 200 OK
        ETag: "pawl-#"
        Accept-Ranges: bytes
        Cache-Status: pawl; fwd=uri-miss; fwd-status=200; stored
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: 10


        """)
    let tag = try #require(first["ETag"])
    let rest = pawl.get("/f", "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag)
    #expect(rest["Content-Range"] == "bytes 4-9/10")
    #expect(pawl.stop() == [])
    #expect(origin.acceptedCount == 1)
  }

  @Test("goes on over a restart of the server, with the same tag")
  func restart() throws {
    let folder = try TemporaryFolder()
    let origin = ScriptedOrigin(.tcp, [.expectHead, Self.answer("0123456789"), .readToEnd])
    let before = try TestServer(origin, in: folder)
    let tag = try #require(before.get()["ETag"])
    #expect(before.stop() == [])
    let after = try TestServer(url: "http://127.0.0.1:1", in: folder)
    let rest = after.get("/f", "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag)
  }

  @Test("a cold range of an origin with ranges fetches what is missing, on 64 KiB borders, and nothing else")
  func coldRange() throws {
    let size = 1 << 20
    let (start, end) = (2 << 16, 3 << 16)
    let head =
      "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\nETag: \"v\"\r\nAccept-Ranges: bytes\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead,
        .send(head + "Content-Range: bytes \(start)-\(end - 1)/\(size)\r\nContent-Length: \(end - start)\r\n\r\n"),
        .sendPattern(from: UInt64(start), count: end - start), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let part = pawl.get("/f", "Range: bytes=140000-140009")
    #expect(
      part.shown == """
        HTTP/1.1 206 Partial Content
        Cache-Control: max-age=60
        Content-Range: bytes 140000-140009/\(size)
        ETag: "v"
        Accept-Ranges: bytes
        Cache-Status: pawl; fwd=uri-miss; fwd-status=206; stored
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: 10


        """)
    #expect(part.content == OriginStep.pattern(from: 140_000, count: 10))
    pawl.waitForHeld(UInt64(end - start))
    #expect(pawl.get("/f", "Range: bytes=131072-131073").content == OriginStep.pattern(from: 131_072, count: 2))
    #expect(pawl.stop() == [])
    #expect(sent(origin).contains("\r\nRange: bytes=\(start)-\(end - 1)\r\n"))
    #expect(origin.acceptedCount == 1)
  }

  @Test("a cold range of an origin without ranges is served from the whole fill")
  func coldRangeWithoutRanges() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, Self.answer("0123456789"), .readToEnd])
    let pawl = try TestServer(origin)
    let part = pawl.get("/f", "Range: bytes=-3")
    #expect(part.status == 206 && part.text == "789" && part["Content-Range"] == "bytes 7-9/10")
    #expect(pawl.stop() == [])
  }

  @Test(
    "another range of what the origin confirmed a moment ago costs no question, but not after a newer response came")
  func confirmedRange() throws {
    func head(_ tag: String, _ age: Int) -> String { "ETag: \"\(tag)\"\r\nCache-Control: max-age=\(age)\r\n" }
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.answer("0123456789", head("a", 0)), .expectHead,
        .send("HTTP/1.1 304 Not Modified\r\n\(head("a", 0))\r\n"), .expectHead,
        .send("HTTP/1.1 304 Not Modified\r\n\(head("a", 60))\r\n"), .expectHead,
        Self.answer("0123456789", head("b", 60)), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    #expect(pawl.get().text == "0123456789")
    for (range, text) in [("0-1", "01"), ("4-5", "45")] {
      // TE: not on the short way.
      let part = pawl.get("/f", "Range: bytes=\(range)", "TE: trailers")
      #expect(part.status == 206 && part.text == text && part["ETag"] == "\"a\"")
    }
    // Asked for somebody else: the same body has a newer head from then on.
    #expect(pawl.get()["Cache-Control"] == "max-age=60")
    #expect(pawl.get("/f", "Range: bytes=2-3", "TE: trailers")["Cache-Control"] == "max-age=60")
    #expect(pawl.get("/f", "Cache-Control: no-cache")["ETag"] == "\"b\"")
    let newer = pawl.get("/f", "Range: bytes=6-7", "TE: trailers")
    #expect(newer.status == 206 && newer.text == "67" && newer["ETag"] == "\"b\"")
    #expect(pawl.stop() == [])
    #expect(sent(origin).split(separator: "GET /f").count == 4)
  }

  @Test("only-if-cached never asks the origin")
  func onlyIfCached() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let answer = pawl.get("/f", "Cache-Control: only-if-cached")
    #expect(answer.status == 504)
    #expect(answer.text.hasSuffix("Nothing usable is stored, and only-if-cached forbids asking.\n"))
  }

  @Test("a part whose room others took meanwhile comes from the origin, whole, and nothing of it is kept")
  func roomTaken() throws {
    let (gate, total) = (Gate(), 16 << 20)
    func part(_ first: Int, _ count: Int, after gate: Gate? = nil) -> [OriginStep] {
      let head = OriginStep.send(
        "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\nETag: \"v\"\r\nConnection: close\r\n"
          + "Content-Range: bytes \(first)-\(first + count - 1)/\(total)\r\nContent-Length: \(count)\r\n\r\n")
      return [.expectHead, head] + (gate.map { [.wait($0)] } ?? []) + [.sendPattern(from: UInt64(first), count: count)]
    }
    let (late, large) = (12 << 20, 4 << 20)
    let origin = ScriptedOrigin(
      .tcp,
      scripts: [part(0, 65536), part(late, 65536, after: gate), part(large, late - large), part(late, 65536)])
    let pawl = try TestServer(origin) { $0.cacheSize = "4M" }
    #expect(pawl.get("/f", "Range: bytes=0-65535").content == OriginStep.pattern(from: 0, count: 65536))
    let (one, other) = (pawl.connect(), pawl.connect(receiveBuffer: 4096))
    one.send(TestServer.request("/f", ["Range: bytes=\(late)-\(late + 65535)"]))
    pawl.waitUntil("the origin is asked for it") { origin.acceptedCount == 2 }
    other.send(TestServer.request("/f", ["Range: bytes=\(large)-\(late - 1)"]))
    pawl.waitFor("streaming-unstored")
    gate.open()
    let answer = one.readAnswer()
    #expect(answer.status == 206 && answer.isWhole)
    #expect(answer.content == OriginStep.pattern(from: UInt64(late), count: 65536))
    #expect(answer["Cache-Status"] == "pawl; fwd=partial; fwd-status=206")
    let rest = other.readAnswer()
    #expect(rest.isWhole && rest.content == OriginStep.pattern(from: UInt64(large), count: late - large))
    #expect(pawl.stop() == [] && origin.acceptedCount == 4)
  }

  @Test("conditions that only the origin can judge go to it as they are")
  func preconditions() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.answer("", "", status: "412 Precondition Failed"), .readToEnd])
    let pawl = try TestServer(origin)
    let answer = pawl.get("/f", "If-Match: \"x\"")
    #expect(answer.status == 412 && answer["Cache-Status"] == "pawl; fwd=request; fwd-status=412")
    #expect(pawl.stop() == [])
    #expect(sent(origin).contains("\r\nIf-Match: \"x\"\r\n"))
  }

  @Test("a private response is found by its owner, its URL and its tag alone; never by the URL")
  func resumePrivate() throws {
    let personal = "Cache-Control: private\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.answer("0123456789", personal), .expectHead, Self.answer("other", personal), .expectHead,
        Self.answer("other", personal), .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.site = "resume-private = 10m" }
    let first = pawl.get("/f", "Authorization: Basic eA")
    let tag = try #require(first["ETag"])
    #expect(first.text == "0123456789" && maskTags(tag) == "\"pawl-#\"")
    let rest = pawl.get("/f", "Authorization: Basic eA", "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag)
    let stranger = pawl.get("/f", "Authorization: Basic eB", "Range: bytes=4-", "If-Range: \(tag)")
    #expect(stranger.status == 200 && stranger.text == "other")
    #expect(pawl.get("/f", "Authorization: Basic eA").text == "other")
    #expect(pawl.stop() == [])
    #expect(!sent(origin).contains("pawl-"))
  }

  @Test("goes in no circle")
  func loops() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    #expect(pawl.get("/f", "Via: 1.1 pawl, 1.1 pawl, 1.1 pawl").status == 502)
  }
}
