import PawlTestKit
import Testing

@testable import PawlDemo

@Suite("The upload that the demonstration shows") struct DemoUploadTests {
  @Test("is broken off, gone on with, and reaches the origin once and whole")
  func shown() throws {
    let origin = try LegacyOrigin(size: 10)
    try origin.start()
    let pawl = try DemoServer(before: origin)
    let lines = TestLock<[String]>([])
    let upload = DemoUpload(address: pawl.address, origin: origin) { line in
      lines.withLock { $0.append(line) }
    }
    #expect(upload.show())
    let said = lines.withLock { $0 }.joined(separator: "\n")
    #expect(said.contains("HTTP/1.1 104 Upload Resumption Supported  with the upload's URL  -> hung up after 10066329"))
    #expect(said.contains("HTTP/1.1 201 Created  Upload-Offset: \(DemoUpload.size)"))
    #expect(said.contains(": right\nThe origin saw 1 request"))
  }

  @Test("says so when nobody answers")
  func failed() throws {
    let origin = try LegacyOrigin(size: 10)
    let lines = TestLock<[String]>([])
    let upload = DemoUpload(address: "127.0.0.1:\(ScriptedOrigin.closedPort())", origin: origin) { line in
      lines.withLock { $0.append(line) }
    }
    #expect(!upload.show())
    #expect(lines.withLock { $0.last } == "  the demonstration failed: no upload URL")
  }
}
