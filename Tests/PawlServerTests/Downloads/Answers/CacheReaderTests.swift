import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A client's way through a stored body") struct CacheReaderTests {
  private static let size = 100_000
  private static let content = OriginStep.pattern(from: 0, count: size)
  private static let head =
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"v\"\r\nContent-Type: a/b\r\nContent-Length: \(size)\r\n\r\n"

  private func filled() throws -> TestServer {
    let pawl = try TestServer(
      ScriptedOrigin(.tcp, [.expectHead, .send(Self.head), .sendPattern(count: Self.size), .readToEnd]))
    #expect(pawl.get().content == Self.content)
    return pawl
  }

  @Test(
    "sends the ranges it was asked for, and nothing else",
    arguments: [
      ("bytes=0-0", 0, 1), ("bytes=99999-", 99_999, 1), ("bytes=-100", 99_900, 100), ("bytes=10-20", 10, 11),
      ("bytes=0-99999", 0, 100_000), ("bytes=65535-65536", 65_535, 2),
    ])
  func single(_ range: String, _ start: Int, _ count: Int) throws {
    let pawl = try filled()
    // `TE` asks for nothing, and keeps the request off the shortest way.
    let part = pawl.get("/f", "Range: \(range)", "TE: trailers")
    #expect(
      part.shown == """
        HTTP/1.1 206 Partial Content
        Cache-Control: max-age=60
        Content-Type: a/b
        Content-Range: bytes \(start)-\(start + count - 1)/\(Self.size)
        ETag: "v"
        Accept-Ranges: bytes
        Age: 0
        Cache-Status: pawl; hit; ttl=60
        Date: \(today)
        Via: 1.1 pawl
        Content-Length: \(count)


        """)
    #expect(part.content == Array(Self.content[start..<start + count]))
    #expect(
      pawl.record(2, "cache", "bytes", "bytes_from_cache", "bytes_from_origin") == ["hit", "\(count)", "\(count)", "0"])
    #expect(pawl.stop() == [])
  }

  @Test("several ranges are one multipart of the length it says")
  func multipart() throws {
    let pawl = try filled()
    let answer = pawl.get("/f", "Range: bytes=0-1,50000-50002")
    #expect(answer.status == 206 && answer.isWhole)
    let type = try #require(answer["Content-Type"])
    let boundary = try #require(type.split(separator: "boundary=").last.map { $0.filter { $0 != "\"" } })
    #expect(type.hasPrefix("multipart/byteranges; boundary="))
    func part(_ first: Int, _ last: Int) -> [UInt8] {
      Array("\r\n--\(boundary)\r\nContent-Type: a/b\r\nContent-Range: bytes \(first)-\(last)/\(Self.size)\r\n\r\n".utf8)
        + Self.content[first...last]
    }
    let expected = part(0, 1) + part(50_000, 50_002) + Array("\r\n--\(boundary)--\r\n".utf8)
    #expect(answer.content == expected)
    #expect(answer["Content-Length"] == "\(answer.content.count)")
    #expect(pawl.stop() == [])
  }

  @Test("a range beyond the end is 416, with the length")
  func unsatisfiable() throws {
    let pawl = try filled()
    let answer = pawl.get("/f", "Range: bytes=\(Self.size)-")
    #expect(answer.status == 416 && answer["Content-Range"] == "bytes */\(Self.size)")
    #expect(
      answer.text == "416 Range Not Satisfiable\n\nThe range lies beyond the end: there are \(Self.size) bytes.\n")
    #expect(pawl.stop() == [])
  }

  @Test("readers of one fill have each their own speed and range; the origin is asked once")
  func together() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send(Self.head), .sendPattern(count: 50_000), .wait(gate),
        .sendPattern(from: 50_000, count: Self.size - 50_000), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let clients = (0..<4).map { _ in pawl.connect() }
    clients[0].send(TestServer.request())
    _ = clients[0].readHead()
    #expect(clients[0].read(50_000) == Array(Self.content[..<50_000]))
    // A part that is held comes at once; parts that are not wait for their bytes.
    clients[1].send(TestServer.request("/f", ["Range: bytes=100-199"]))
    clients[2].send(TestServer.request("/f", ["Range: bytes=49999-50000"]))
    clients[3].send(TestServer.request("/f", ["Range: bytes=-1"]))
    let early = clients[1].readAnswer()
    #expect(early.content == Array(Self.content[100..<200]))
    #expect(early["Cache-Status"] == "pawl; hit; ttl=60; detail=partial")
    #expect(clients[2].readHead().contains("\r\nContent-Range: bytes 49999-50000/\(Self.size)\r\n"))
    #expect(clients[2].read(1) == [Self.content[49_999]])
    gate.open()
    #expect(clients[2].read(1) == [Self.content[50_000]])
    #expect(clients[3].readAnswer().content == [Self.content[Self.size - 1]])
    #expect(clients[0].read(50_000) == Array(Self.content[50_000...]))
    for client in clients { client.close() }
    #expect(pawl.stop() == [])
    #expect(origin.acceptedCount == 1)
  }

  @Test("a range of a body without known length waits for the total; then it is that range")
  func waitsForTotal() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead,
        .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        .wait(gate), .send("6\r\n world\r\n0\r\n\r\n"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request("/f", ["Range: bytes=1-4"]))
    pawl.waitForHeld(5)
    pawl.settle()
    #expect(client.isQuiet)
    gate.open()
    let answer = client.readAnswer()
    #expect(answer.status == 206 && answer.text == "ello" && answer["Content-Range"] == "bytes 1-4/11")
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("… and after 30 seconds it is the whole from byte 0")
  func outOfPatience() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead,
        .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        .wait(gate), .send("6\r\n world\r\n0\r\n\r\n"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request("/f", ["Range: bytes=1-4"]))
    pawl.waitForHeld(5)
    pawl.settle()
    pawl.clock.advance(by: .seconds(30))
    #expect(client.readHead().hasPrefix("HTTP/1.1 200 OK\r\n"))
    gate.open()
    #expect(String(decoding: client.read(26), as: UTF8.self) == "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
    client.close()
    #expect(pawl.stop() == [])
  }
}
