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
    pawl.waitUntil("the body is in memory") { pawl.stored()?.body.inMemory != nil }
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
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=5\r\nContent-Length: 1\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(head + "1"), .readToEnd], [.expectHead, .send(head + "2"), .readToEnd])
    let pawl = try TestServer(origin) { $0.cache = "memory-object = 32K" }
    #expect(pawl.get().text == "1")
    pawl.waitUntil("the body is in memory") { pawl.stored()?.body.inMemory != nil }
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
}
