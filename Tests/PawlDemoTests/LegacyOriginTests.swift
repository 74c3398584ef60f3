import PawlTestKit
import Testing

@testable import PawlDemo

@Suite("The demonstration's legacy origin") struct LegacyOriginTests {
  @Test("any part of its file can be made without the others")
  func content() {
    let whole = LegacyOrigin.content(0..<1000)
    #expect(whole.count == 1000 && Set(whole).count > 100)
    for range in [0..<1, 7..<9, 500..<1000] as [Range<UInt64>] {
      #expect(LegacyOrigin.content(range) == Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]))
    }
  }

  @Test("speaks HTTP/1.0 without ranges or validators, and breaks off now and then")
  func answers() throws {
    let origin = try LegacyOrigin(size: 3000)
    try origin.start()
    var whole = 0
    for _ in 0..<40 {
      let client = ScriptedClient(port: origin.port)
      client.send("GET /download.bin HTTP/1.0\r\nRange: bytes=1-\r\n\r\n")
      let (bytes, _) = client.readToEnd()
      let head = Array("HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 3000\r\n\r\n".utf8)
      guard bytes.count >= head.count else { continue }
      #expect(Array(bytes.prefix(head.count)) == head)
      let content = Array(bytes.dropFirst(head.count))
      #expect(content == LegacyOrigin.content(0..<UInt64(content.count)))
      if content.count == 3000 { whole += 1 }
    }
    #expect(origin.requests == 40 && origin.breaks > 0 && whole > 0)
    let client = ScriptedClient(port: origin.port)
    client.send("GET /else HTTP/1.0\r\n\r\n")
    #expect(client.readAnswer().status == 404)
  }
}
