import PawlTestKit
import Testing

@testable import PawlDemo

@Suite("The download that the demonstration shows") struct DemoDownloadTests {
  @Test("is interrupted by the origin and by the client, and comes out right")
  func shown() throws {
    let origin = try LegacyOrigin(size: 200_000)
    try origin.start()
    let pawl = try DemoServer(before: origin)
    let lines = TestLock<[String]>([])
    let download = DemoDownload(address: pawl.address, origin: origin) { line in
      lines.withLock { $0.append(line) }
    }
    #expect(download.show())
    let said = maskTags(lines.withLock { $0 }.joined(separator: "\n"))
    #expect(said.contains("HTTP/1.1 200 OK  ETag: \"pawl-#\"  Accept-Ranges: bytes  -> hung up after 20000 bytes"))
    #expect(said.contains("HTTP/1.1 206 Partial Content  Content-Range: bytes 20000-199999/200000  -> 180000 bytes"))
    #expect(said.contains(": right"))
  }

  @Test("says so when nobody answers")
  func failed() throws {
    let origin = try LegacyOrigin(size: 10)
    let lines = TestLock<[String]>([])
    let download = DemoDownload(address: "127.0.0.1:\(ScriptedOrigin.closedPort())", origin: origin) { line in
      lines.withLock { $0.append(line) }
    }
    #expect(!download.show())
    #expect(lines.withLock { $0.last } == "  the demonstration failed: no answer")
  }
}
