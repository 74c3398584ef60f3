import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A slow reader of a body that is streamed") struct OvertakingTests {
  @Test(
    "is overtaken when others have waited for it three times in a row, and goes on by a request of its own")
  func overtaken() throws {
    let goOn = Gate()
    let origin = ScriptedOrigin(.tcp, StreamedBody.script(waitingFor: goOn), StreamedBody.script())
    let pawl = try TestServer.streaming(origin)
    let (slow, fast) = pawl.connectSlowAndFast()
    let answer = TestLock<Answer?>(nil)
    let reading = TestThread { answer.withLock { $0 = fast.readAnswer() } }
    goOn.open()
    pawl.waitUntilTheFastWaits()
    #expect(pawl.events("slow-reader-detached") == [])
    pawl.advancing {
      pawl.waitFor("slow-reader-detached")
      reading.join()
    }
    let whole = answer.withLock { $0 }
    #expect(whole?.isWhole == true && whole?.content == StreamedBody.content)
    let late = pawl.advancing { slow.readAnswer() }
    #expect(late.isWhole && late.content == StreamedBody.content)
    #expect(pawl.stop() == [] && origin.acceptedCount == 2)
  }
}
