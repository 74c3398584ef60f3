import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A body fetched anew, compared with the one it replaces") struct TwinComparisonTests {
  private static let size = 3 << 20

  private func connection(_ content: [UInt8]) -> [OriginStep] {
    [
      .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\nConnection: close\r\n\r\n"),
      .send(content),
    ]
  }

  @Test("the same bytes: the old tag names the new body")
  func equal() throws {
    let content = OriginStep.pattern(from: 0, count: Self.size)
    let origin = ScriptedOrigin(.tcp, connection(content), connection(content))
    let pawl = try TestServer(origin) { $0.site = "resume-ttl = 0s" }
    let old = try #require(pawl.get()["ETag"])
    let rest = pawl.get("/f", "Range: bytes=1000000-", "If-Range: \(old)")
    #expect(rest.status == 206 && rest["ETag"] == old)
    #expect(rest.content == Array(content[1_000_000...]))
    pawl.waitFor("refetch-compared")
    #expect(pawl.events("refetch-compared")[0].contains("equal=true"))
    #expect(pawl.stop() == [])
  }

  @Test(
    "one byte changed, wherever: the old tag names nothing, and its holder gets the whole new body",
    arguments: [
      0, 1_000_000, size - 1,
    ])
  func different(_ byte: Int) throws {
    let content = OriginStep.pattern(from: 0, count: Self.size)
    var changed = content
    changed[byte] ^= 1
    let origin = ScriptedOrigin(.tcp, connection(content), connection(changed))
    let pawl = try TestServer(origin) { $0.site = "resume-ttl = 0s" }
    let old = try #require(pawl.get()["ETag"])
    let whole = pawl.get("/f", "Range: bytes=1000000-", "If-Range: \(old)")
    #expect(whole.status == 200 && whole["ETag"] != old && whole.content == changed)
    #expect(pawl.stop() == [])
  }

  @Test("another length is another body", arguments: [size - 1, size + 1])
  func length(_ length: Int) throws {
    let changed = OriginStep.pattern(from: 0, count: length)
    let origin = ScriptedOrigin(.tcp, connection(OriginStep.pattern(from: 0, count: Self.size)), connection(changed))
    let pawl = try TestServer(origin) { $0.site = "resume-ttl = 0s" }
    let old = try #require(pawl.get()["ETag"])
    let whole = pawl.get("/f", "Range: bytes=1000000-", "If-Range: \(old)")
    #expect(whole.status == 200 && whole.content == changed)
    #expect(pawl.stop() == [])
  }

  @Test("by resume-ttl the stale body itself is finished, without asking")
  func resumeTTL() throws {
    let content = OriginStep.pattern(from: 0, count: Self.size)
    let origin = ScriptedOrigin(.tcp, connection(content))
    let pawl = try TestServer(origin)
    let old = try #require(pawl.get()["ETag"])
    pawl.clock.advance(by: .seconds(3600))
    let rest = pawl.get("/f", "Range: bytes=1000000-", "If-Range: \(old)")
    #expect(rest.status == 206 && rest.content == Array(content[1_000_000...]))
    #expect(pawl.stop() == [])
  }
}
