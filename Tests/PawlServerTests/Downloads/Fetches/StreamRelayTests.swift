import PawlTestKit
import Testing

@testable import PawlServer

@Suite("An answer that is not kept") struct StreamRelayTests {
  private static let size = 30_000
  private static let content = OriginStep.pattern(from: 0, count: size)

  private static func head(_ fields: String = "") -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n\(fields)Content-Length: \(size)\r\n\r\n")
  }

  private static func part(from start: Int, _ fields: String) -> OriginStep {
    .send(
      "HTTP/1.1 206 Partial Content\r\n\(fields)Content-Length: \(size - start)\r\n"
        + "Content-Range: bytes \(start)-\(size - 1)/\(size)\r\n\r\n")
  }

  @Test(
    "is resumed by range within the exchange, where a cache is on and where it is off",
    arguments: ["cache = default", "cache = off"])
  func range(_ cache: String) throws {
    let tag = "ETag: \"v1\"\r\n"
    let from = 20_000 - 4096
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: 20_000)],
      [.expectHead, Self.part(from: from, tag), .sendPattern(from: UInt64(from), count: Self.size - from), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = cache }
    let answer = pawl.get()
    #expect(answer.content == Self.content && answer.isWhole)
    #expect(answer["ETag"] == "\"v1\"")
    #expect(
      pawl.record(1, "bytes_from_origin", "bytes_resumed", "bytes_replayed", "origin_resumes") == [
        "34096", "10000", "4096", "1",
      ])
    #expect(pawl.stop() == [])
  }

  @Test(
    "leaves its connection to the next one, with content or without, and however it came", .timeLimit(.minutes(1)),
    arguments: ["cache = default", "cache = off"])
  func leavesItsConnection(_ cache: String) throws {
    let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n"
    let empty = head + "Content-Length: 0\r\n\r\n"
    let full = head + "Content-Length: 5\r\n\r\nhello"
    let chunked = head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    let none = "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n"
    let answers = [empty, full, none, chunked].flatMap { [OriginStep.send($0), .sendEachByte($0)] }
    let origin = ScriptedOrigin(.tcp, answers.flatMap { [.expectHead, $0] } + [.readToEnd])
    let pawl = try TestServer(origin) { $0 = .init(upstream: "max-connections = 1", site: cache) }
    let contents = answers.map { _ in pawl.get().text }
    #expect(contents == ["", "", "hello", "hello", "", "", "hello", "hello"])
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("is replayed against a hash of what was delivered", arguments: ["cache = default", "cache = off"])
  func replay(_ cache: String) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(), .sendPattern(count: 20_000), .reset],
      [.expectHead, Self.head(), .sendPattern(count: 25_000)],
      [.expectHead, Self.head(), .sendPattern(count: Self.size), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = cache }
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == Self.content && answer.isWhole)
    #expect(pawl.stop() == [])
  }

  @Test("ends visibly where the replay differs, wherever that is", arguments: [0, 10_000, 19_999])
  func changed(_ byte: Int) throws {
    var other = Self.content
    other[byte] ^= 1
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(), .sendPattern(count: 20_000)],
      [.expectHead, Self.head(), .send(other), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "cache = off" }
    let answer = pawl.get()
    #expect(answer.content == Array(Self.content.prefix(20_000)) && !answer.isWhole)
    #expect(pawl.record(1, "ended_by") == ["origin"])
    #expect(pawl.stop() == [])
  }

  @Test("a part without a strong validator is passed on as it is, and not stored")
  func weakPart() throws {
    let answer =
      "HTTP/1.1 206 Partial Content\r\nETag: W/\"w\"\r\nContent-Range: bytes 0-99/200\r\nContent-Length: 100\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send(answer), .sendPattern(count: 100)], [.expectHead, .send(answer), .sendPattern(count: 100)])
    let pawl = try TestServer(origin)
    for _ in 0..<2 {
      let part = pawl.get("/f", "Range: bytes=10-19")
      #expect(
        part.shown == """
          HTTP/1.1 206 Partial Content
          ETag: W/"w"
          Content-Range: bytes 10-19/200
          Cache-Status: pawl; fwd=uri-miss; fwd-status=206
          Date: \(today)
          Via: 1.1 pawl
          Content-Length: 10


          """)
      #expect(part.content == OriginStep.pattern(from: 10, count: 10))
    }
    #expect(pawl.stop() == [])
  }

  @Test("a slow reader slows the origin: memory stays bounded", arguments: ["cache = default", "cache = off"])
  func backpressure(_ cache: String) throws {
    let size = 64 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: \(size)\r\n\r\n"),
        .sendPatternUntilStuck(upTo: size),
      ])
    let pawl = try TestServer(origin) {
      $0.site = cache
      $0.upstream = "resume-attempts = 0"
    }
    let client = pawl.connect(receiveBuffer: 4096)
    client.send(TestServer.request())
    _ = client.readHead()
    pawl.waitUntil("the origin is stuck") { origin.patternSent > 0 }
    let sent = origin.patternSent
    #expect(sent < 16 << 20)
    let (bytes, ending) = client.readToEnd()
    #expect(ending == .inOrder)
    #expect(bytes == OriginStep.pattern(from: 0, count: sent))
    #expect(pawl.stop() == [])
  }
}
