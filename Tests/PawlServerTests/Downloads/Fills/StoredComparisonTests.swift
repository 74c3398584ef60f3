import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Bytes that came again beside those that are held") struct StoredComparisonTests {
  private static let size = 3 << 20
  private static let content = OriginStep.pattern(from: 0, count: size)

  private static let begin: [OriginStep] = [
    .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"),
    .send(Array("\(String(size, radix: 16))\r\n".utf8)),
  ]

  private static func again(_ content: [UInt8]) -> [OriginStep] {
    begin + [.send(content), .send("\r\n0\r\n\r\n"), .readToEnd]
  }

  @Test("in the file, and in what is only remembered of what went past it, the same goes on", arguments: [false, true])
  func same(slowWrites: Bool) throws {
    let origin = ScriptedOrigin(.tcp, Self.begin + [.sendPattern(count: 2 << 20)], Self.again(Self.content))
    let pawl = try TestServer(origin) { $0.site = "max-unknown = 1M" }
    if slowWrites { pawl.expectSlowWrites() }
    let answer = pawl.get()
    #expect(answer.isWhole && answer.content == Self.content)
    #expect(pawl.events("streaming-unstored").count == 1)
    #expect(pawl.stop() == [])
  }

  @Test("one byte that differs ends the body, wherever it is", arguments: [0, 500_000, 1_500_000, (2 << 20) - 1])
  func different(_ place: Int) throws {
    var other = Self.content
    other[place] ^= 1
    let origin = ScriptedOrigin(.tcp, Self.begin + [.sendPattern(count: 2 << 20)], Self.begin + [.send(other)])
    let pawl = try TestServer(origin) { $0.site = "max-unknown = 1M" }
    let answer = pawl.get()
    #expect(!answer.isWhole && answer.content == Array(Self.content.prefix(answer.content.count)))
    #expect(answer.content.count <= 2 << 20)
    pawl.waitFor("content-changed")
    _ = pawl.stop()
  }
}
