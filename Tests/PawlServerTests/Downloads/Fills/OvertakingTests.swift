import PawlStore
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A slow reader of a body that is streamed") struct OvertakingTests {
  private static let chunk = 1 << 16
  private static let count = 256
  private static let content = OriginStep.pattern(from: 0, count: chunk * count)

  private static func script(waitingFor gate: Gate?) -> [OriginStep] {
    var script: [OriginStep] = [
      .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ]
    for index in 0..<count {
      script += [.send("10000\r\n"), .sendPattern(from: UInt64(index * chunk), count: chunk), .send("\r\n")]
      if index == 0, let gate { script.append(.wait(gate)) }
    }
    return script + [.send("0\r\n\r\n"), .readToEnd]
  }

  @Test(
    "is overtaken when others have waited for it three times in a row, and goes on by a request of its own")
  func overtaken() throws {
    let goOn = Gate()
    let origin = ScriptedOrigin(.tcp, Self.script(waitingFor: goOn), Self.script(waitingFor: nil))
    let pawl = try TestServer(origin) { $0.site = "max-unknown = 256K" }
    let (slow, other) = (pawl.connect(receiveBuffer: 4096), pawl.connect())
    let answer = TestLock<Answer?>(nil)
    for client in [slow, other] { client.send(TestServer.request()) }
    func readers() -> StoredBody.Readers? { pawl.onLoop { $0.downloads.fills.values.first?.body.readers } ?? nil }
    pawl.waitUntil("both read") { readers()?.count == 2 }
    let reading = TestThread { answer.withLock { $0 = other.readAnswer() } }
    goOn.open()
    pawl.waitUntil("all wait for the slow one") {
      guard let readers = readers(), let slowest = readers.slowest, let fastest = readers.fastest else { return false }
      return fastest - slowest >= 1 << 20
    }
    #expect(pawl.events("slow-reader-overtaken") == [])
    pawl.advancing {
      pawl.waitFor("slow-reader-overtaken")
      reading.join()
    }
    let whole = answer.withLock { $0 }
    #expect(whole?.isWhole == true && whole?.content == Self.content)
    let late = pawl.advancing { slow.readAnswer() }
    #expect(late.isWhole && late.content == Self.content)
    #expect(pawl.stop() == [] && origin.acceptedCount == 2)
  }
}
