import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Answers from what is at rest") struct HotLookupTests {
  private static let kept = "Cache-Control: max-age=60\r\nETag: \"v\"\r\n"

  /// What a restarted server is asked that has this at rest; the origin's next answer is `2`.
  private func restarted(
    _ fields: String = kept, content: String = "1", site: String = "", newSite: String? = nil
  ) throws -> TestServer {
    let folder = try TemporaryFolder()
    func origin(_ content: String) -> ScriptedOrigin {
      let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n"
      return ScriptedOrigin(.tcp, [.expectHead, .send(head + content), .readToEnd])
    }
    let first = try TestServer(origin(content), in: folder) {
      ($0.cache, $0.site, $0.packs) = ("memory-object = 32K", site, true)
    }
    #expect(first.get().text == content)
    first.waitUntil("the body is complete") { first.stored()?.body.isComplete == true }
    #expect(first.stop() == [])
    return try TestServer(origin("2"), in: folder) {
      ($0.cache, $0.site, $0.packs) = ("memory-object = 32K", newSite ?? site, true)
    }
  }

  /// Nothing was brought into memory.
  private func isAtRest(_ pawl: TestServer) -> Bool {
    pawl.onLoop { $0.services.router.all[0].cache?.statistics.memoryBytes } == 0
  }

  @Test(
    "are those that the long way gives, and bring nothing into memory",
    arguments: [
      kept, "Cache-Control: max-age=60\r\n",
      "Cache-Control: max-age=60\r\nDate: Tue, 14 Nov 2023 22:13:10 GMT\r\nAge: 5\r\nLast-Modified: Mon, 13 Nov 2023 00:00:00 GMT\r\n",
    ])
  func same(_ fields: String) throws {
    let pawl = try restarted(fields)
    pawl.clock.advance(by: .seconds(3))
    let client = pawl.connect()
    var short: [Answer] = []
    for _ in 0..<3 {
      client.send(TestServer.request())
      short.append(client.readAnswer())
    }
    #expect(isAtRest(pawl))
    client.send(TestServer.request("/f", ["TE: trailers"]))
    let long = client.readAnswer()
    for answer in short { #expect(answer.lines.sorted() == long.lines.sorted() && answer.text == "1") }
    client.send(TestServer.request("/f", ["Range: bytes=0-0"]))
    #expect(client.readAnswer().status == 206)
    client.close()
    pawl.stop()
  }

  @Test("of a body that is longer than a write takes come whole")
  func whole() throws {
    let content = String(repeating: "0123456789abcdef", count: 4000)
    let pawl = try restarted(content: content)
    for _ in 0..<2 { #expect(pawl.get().text == content) }
    #expect(isAtRest(pawl))
    pawl.stop()
  }

  @Test(
    "are not given when they are stale, to whom they may not be meant, or by other settings than they were decided by")
  func notGiven() throws {
    let stale = try restarted()
    stale.clock.advance(by: .seconds(60))
    #expect(stale.get().text == "2")
    stale.stop()
    let cookies = try restarted("Last-Modified: Sun, 13 Nov 2022 00:00:00 GMT\r\n")
    #expect(cookies.get().text == "1")
    #expect(cookies.get("/f", "Cookie: session=1").text == "2")
    cookies.stop()
    let tags = try restarted("Cache-Control: max-age=60\r\n", newSite: "etag = origin")
    let answer = tags.get()
    #expect(answer.text == "1" && answer["ETag"] == nil)
    #expect(!isAtRest(tags))
    tags.stop()
  }

  @Test("are compressed by the long way where they are to be")
  func compressed() throws {
    let content = String(repeating: "some text ", count: 500)
    let pawl = try restarted("Cache-Control: max-age=60\r\nContent-Type: text/css\r\n", content: content)
    #expect(pawl.get().text == content)
    #expect(isAtRest(pawl))
    #expect(pawl.get("/f", "Accept-Encoding: gzip")["Content-Encoding"] == "gzip")
    #expect(pawl.get().text == content)
    pawl.stop()
  }

  @Test("are gone when the resource was changed")
  func invalidated() throws {
    let folder = try TemporaryFolder()
    let head = "HTTP/1.1 200 OK\r\n\(Self.kept)Content-Length: 1\r\n\r\n"
    let first = try TestServer(ScriptedOrigin(.tcp, [.expectHead, .send(head + "1"), .readToEnd]), in: folder)
    #expect(first.get().text == "1")
    first.waitUntil("the body is complete") { first.stored()?.body.isComplete == true }
    first.stop()
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .expectHead, .send(head + "2"), .readToEnd])
    let pawl = try TestServer(origin, in: folder)
    #expect(pawl.get().text == "1")
    #expect(pawl.ask("DELETE /f HTTP/1.1\r\nHost: site\r\nContent-Length: 0\r\n\r\n").status == 204)
    #expect(pawl.get().text == "2")
    pawl.stop()
  }
}
