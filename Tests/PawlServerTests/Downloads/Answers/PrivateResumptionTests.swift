import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A kept body that another request names") struct PrivateResumptionTests {
  private static func answer(_ content: String, _ fields: String = "", status: String = "200 OK") -> OriginStep {
    .send(
      "HTTP/1.1 \(status)\r\nCache-Control: private\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
    )
  }

  /// One connection with these answers, one after the other.
  private func origin(_ answers: OriginStep...) -> ScriptedOrigin {
    ScriptedOrigin(.tcp, answers.flatMap { [.expectHead, $0] } + [.readToEnd])
  }

  /// The second time, the rest of the same body waits for `gate`.
  private func halting(_ begun: Gate, _ gate: Gate) -> ScriptedOrigin {
    ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.answer("0123456789"), .expectHead,
        .send("HTTP/1.1 200 OK\r\nCache-Control: private\r\nContent-Length: 10\r\n\r\n01"), .open(begun), .wait(gate),
        .send("23456789"), .readToEnd,
      ])
  }

  private func requests(_ origin: ScriptedOrigin) -> [Substring] {
    String(decoding: origin.received.flatMap(\.self), as: UTF8.self).split(separator: "\r\n\r\n")
  }

  private func start(_ origin: ScriptedOrigin, owner: String = "authorization") throws -> TestServer {
    try TestServer(origin) { $0.site = "resume-private = 10m\nowner = \(owner)" }
  }

  private static let (ann, bob) = ("Authorization: Basic ann", "Authorization: Basic bob")

  @Test("the origin's own tag in a 304: the rest of what is held, under the asker's own head, and unasked from then on")
  func notModified() throws {
    let origin = origin(
      Self.answer("0123456789", "ETag: \"v\"\r\nContent-Type: text/x\r\nX-For: ann\r\n"),
      .send(
        "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nCache-Control: private\r\nX-For: bob\r\nSet-Cookie: b=1\r\n\r\n"))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    let rest = pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)")
    #expect(
      rest.shown == """
        HTTP/1.1 206 Partial Content
        Content-Type: text/x
        Cache-Control: private
        X-For: bob
        Date: \(today)
        Content-Range: bytes 4-9/10
        ETag: "pawl-#"
        Accept-Ranges: bytes
        Age: 0
        Set-Cookie: b=1
        Cache-Status: pawl; fwd=stale; fwd-status=304
        Via: 1.1 pawl
        Content-Length: 6


        """)
    #expect(rest.text == "456789" && rest["ETag"] == tag)
    let asked = requests(origin)
    #expect(asked.count == 2 && asked[1].contains("\r\nIf-None-Match: \"v\"") && asked[1].contains(Self.bob))
    #expect(!asked[1].contains("Range"))
    let again = pawl.get("/f", Self.bob, "Range: bytes=6-", "If-Range: \(tag)")
    #expect(again.status == 206 && again.text == "6789" && again["X-For"] == "bob")
    #expect(pawl.get("/f", Self.ann, "Range: bytes=8-", "If-Range: \(tag)")["X-For"] == "ann")
    #expect(pawl.stop() == [])
  }

  @Test("a 304 that does not name the tag proves nothing: the origin is asked once more, without the condition")
  func otherNotModified() throws {
    let origin = origin(
      Self.answer("0123456789", "ETag: \"v\"\r\n"), .send("HTTP/1.1 304 Not Modified\r\nETag: \"w\"\r\n\r\n"),
      Self.answer("abcdefghij", "ETag: \"w\"\r\n"))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    let whole = pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)")
    #expect(whole.status == 200 && whole.text == "abcdefghij" && whole["ETag"] != tag)
    #expect(!requests(origin)[2].contains("If-None-Match"))
    #expect(pawl.stop() == [])
  }

  @Test("without a strong tag the origin's answer is compared, and only what the client lacks goes out")
  func equal() throws {
    let origin = origin(Self.answer("0123456789"), Self.answer("0123456789", "Set-Cookie: b=1\r\nX-For: bob\r\n"))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    let rest = pawl.get("/f", Self.bob, "Range: bytes=4-6", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456" && rest["ETag"] == tag && rest["Content-Range"] == "bytes 4-6/10")
    #expect(rest["X-For"] == "bob" && rest["Set-Cookie"] == "b=1")
    pawl.waitFor("private-compared")
    #expect(pawl.events("private-compared")[0].contains("equal=true compared=10"))
    let again = pawl.get("/f", Self.bob, "Range: bytes=-2", "If-Range: \(tag)")
    #expect(again.status == 206 && again.text == "89")
    #expect(pawl.stop() == [])
    #expect(requests(origin).count == 2)
  }

  @Test(
    "a byte that differs, before or behind the client's offset, is found out before an answer where it can be",
    arguments: ["x123456789", "012345678x", "0123", "0123456789ab"])
  func different(_ content: String) throws {
    let origin = origin(Self.answer("0123456789"), Self.answer(content))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    let whole = pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)")
    if whole.status == 206 {
      #expect(!whole.isWhole && "456789".hasPrefix(whole.text) && content == "012345678x")
    } else {
      #expect(whole.status == 200 && whole.text == content)
      let own = try #require(whole["ETag"])
      #expect(own != tag)
      #expect(pawl.get("/f", Self.bob, "Range: bytes=1-", "If-Range: \(own)").text == String(content.dropFirst()))
    }
    #expect(pawl.stop() == [])
  }

  @Test("other codings and types, and what is not stored, are the answer as they come")
  func passedOn() throws {
    let origin = origin(
      Self.answer("0123456789", "Content-Type: a/b\r\n"), Self.answer("0123456789", "Content-Type: a/c\r\n"),
      Self.answer("no", status: "403 Forbidden"), Self.answer("0123456789", "Cache-Control: no-store\r\n"))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    for status in [200, 403, 200] {
      let answer = pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)")
      #expect(answer.status == status && answer["ETag"] != tag)
    }
    #expect(pawl.stop() == [])
  }

  @Test("an origin that is gone is a 502, not another's body")
  func gone() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, Self.answer("0123456789"), .readToEnd])
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    _ = origin.finish()
    #expect(pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)").status == 502)
  }

  @Test("after 30 s without proof the client gets the whole of its own answer")
  func patience() throws {
    let (gate, begun) = (Gate(), Gate())
    let origin = halting(begun, gate)
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    let client = pawl.connect()
    client.send(TestServer.request("/f", [Self.bob, "Range: bytes=4-", "If-Range: \(tag)"]))
    #expect(begun.wait())
    pawl.waitUntil("it is compared as far as it has come") {
      pawl.onLoop { ($0.downloads.comparisons.values.first as? PrivateComparison)?.compared } == 2
    }
    pawl.clock.advance(by: .seconds(29))
    pawl.settle()
    #expect(pawl.onLoop { $0.downloads.comparisons.count } == 1)
    pawl.clock.advance(by: .seconds(1))
    let head = client.readHead()
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && !head.contains(tag))
    gate.open()
    #expect(String(decoding: client.read(10), as: UTF8.self) == "0123456789")
    #expect(pawl.onLoop { $0.downloads.comparisons.count } == 0)
    #expect(pawl.stop() == [])
  }

  @Test("a client that leaves: what is found out goes on for who can be known again, and ends for others")
  func clientLeaves() throws {
    for (owner, isKnown) in [("authorization", true), ("cookie:none", false)] {
      let (gate, begun) = (Gate(), Gate())
      let origin = halting(begun, gate)
      let pawl = try start(origin, owner: owner)
      let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
      let client = pawl.connect()
      client.send(TestServer.request("/f", [Self.bob, "Range: bytes=4-", "If-Range: \(tag)"]))
      #expect(begun.wait())
      pawl.waitUntil("it is being compared") {
        pawl.onLoop { ($0.downloads.comparisons.values.first as? PrivateComparison)?.compared } == 2
      }
      client.reset()
      if !isKnown { pawl.waitFor("private-compared") }
      gate.open()
      pawl.waitFor("private-compared")
      #expect(pawl.events("private-compared")[0].contains("equal=\(isKnown)"))
      if isKnown {
        let rest = pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)")
        #expect(rest.status == 206 && rest.text == "456789" && origin.acceptedCount == 1)
      }
      pawl.stop()
    }
  }

  @Test("several ranges, a weak tag, or another URL are not worth a question: an ordinary request")
  func ordinary() throws {
    let origin = origin(Self.answer("0123456789"), Self.answer("a"), Self.answer("b"), Self.answer("c"))
    let pawl = try start(origin)
    let tag = try #require(pawl.get("/f", Self.ann)["ETag"])
    #expect(pawl.get("/f", Self.bob, "Range: bytes=1-2,4-5", "If-Range: \(tag)").text == "a")
    #expect(pawl.get("/f", Self.ann, "Range: bytes=4-", "If-Range: W/\(tag)").text == "b")
    #expect(pawl.get("/g", Self.ann, "Range: bytes=4-", "If-Range: \(tag)").text == "c")
    #expect(
      pawl.get("/f", Self.bob, "Range: bytes=4-", "If-Range: \(tag)", "Cache-Control: only-if-cached").status == 504)
    #expect(pawl.stop() == [])
  }
}
