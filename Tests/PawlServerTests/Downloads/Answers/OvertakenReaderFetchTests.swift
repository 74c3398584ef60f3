import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The rest of a body for a reader that was overtaken") struct OvertakenReaderFetchTests {
  @Test("is its own only where all that it was given comes again", arguments: [nil, 0, 1000])
  func proven(_ place: Int?) throws {
    let goOn = Gate()
    let origin = ScriptedOrigin(.tcp, StreamedBody.script(waitingFor: goOn), StreamedBody.script(changing: place))
    let pawl = try TestServer.streaming(origin)
    let (slow, fast) = pawl.connectSlowAndFast()
    let reading = TestThread { _ = fast.readAnswer() }
    goOn.open()
    pawl.waitUntilTheFastWaits()
    let late = pawl.advancing {
      pawl.waitFor("slow-reader-detached")
      reading.join()
      return slow.readAnswer()
    }
    #expect(late.isWhole == (place == nil))
    #expect(late.content == Array(StreamedBody.content.prefix(late.content.count)))
    _ = pawl.stop()
  }
}
