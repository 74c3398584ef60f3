import PawlStore
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The rest of a body for a reader that was overtaken") struct OwnRestTests {
  private static let chunk = 1 << 16
  private static let count = 256
  private static let content = OriginStep.pattern(from: 0, count: chunk * count)

  /// - Parameter place: of the octet that is another one.
  private static func script(waitingFor gate: Gate? = nil, changing place: Int? = nil) -> [OriginStep] {
    var script: [OriginStep] = [
      .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ]
    for index in 0..<count {
      var octets = Array(content[index * chunk..<(index + 1) * chunk])
      if let place, octets.indices.contains(place - index * chunk) { octets[place - index * chunk] ^= 1 }
      script += [.send("10000\r\n"), .send(octets), .send("\r\n")]
      if index == 0, let gate { script.append(.wait(gate)) }
    }
    return script + [.send("0\r\n\r\n"), .readToEnd]
  }

  @Test("is its own only where all that it was given comes again", arguments: [nil, 0, 1000])
  func proven(_ place: Int?) throws {
    let goOn = Gate()
    let origin = ScriptedOrigin(.tcp, Self.script(waitingFor: goOn), Self.script(changing: place))
    let pawl = try TestServer(origin) { $0.site = "max-unknown = 256K" }
    let (slow, fast) = (pawl.connect(receiveBuffer: 4096), pawl.connect())
    for client in [slow, fast] { client.send(TestServer.request()) }
    func readers() -> StoredBody.Readers? { pawl.onLoop { $0.downloads.fills.values.first?.body.readers } ?? nil }
    pawl.waitUntil("both read") { readers()?.count == 2 }
    let reading = TestThread { _ = fast.readAnswer() }
    goOn.open()
    pawl.waitUntil("the fast one waits") { readers().map { $0.fastest ?? 0 > ($0.slowest ?? 0) + 1 << 20 } == true }
    let late = pawl.advancing {
      pawl.waitFor("slow-reader-overtaken")
      reading.join()
      return slow.readAnswer()
    }
    #expect(late.isWhole == (place == nil))
    #expect(late.content == Array(Self.content.prefix(late.content.count)))
    _ = pawl.stop()
  }
}
