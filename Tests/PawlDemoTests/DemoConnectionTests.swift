import PawlTestKit
import Testing

@testable import PawlDemo

@Suite("A connection of the demonstration's clients") struct DemoConnectionTests {
  @Test("reads heads one by one, interim ones too, and the content behind them")
  func reads() throws {
    let origin = try LegacyOrigin(size: 10)
    try origin.start()
    let connection = try #require(DemoConnection(to: "127.0.0.1:\(origin.port)"))
    #expect(connection.send(Array("POST /upload HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc".utf8)))
    let head = try #require(connection.readHead())
    #expect(head.statusLine == "HTTP/1.0 201 Created" && head.status == 201)
    #expect(head["content-length"] == "65" && head["etag"].isEmpty)
    var content: [UInt8] = []
    while let bytes = connection.read(limit: 7) { content += bytes }
    let digest = DemoDigest()
    digest.add(Array("abc".utf8)[...])
    #expect(String(decoding: content, as: UTF8.self) == digest.finish() + "\n")
    #expect(connection.readHead() == nil)
  }

  @Test("is none where nobody listens")
  func refused() {
    #expect(DemoConnection(to: "127.0.0.1:\(ScriptedOrigin.closedPort())") == nil)
    #expect(DemoConnection(to: "nowhere") == nil)
  }
}
