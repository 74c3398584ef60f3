import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The pulse of the loops", .timeLimit(.minutes(1))) struct LoopPulseTests {
  @Test("tells what the loops do, and that they turn; nothing while one of them is stuck")
  func stuck() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = pawl.connect()
    client.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
    #expect(client.readAnswer().status == 200)
    let main = try EventLoop(index: -1)
    var told: [String] = []
    let pulse = LoopPulse(pawl.server, on: main, watchdog: .seconds(8)) { told.append($0) }
    pulse.start()
    pawl.settle()
    pulse.beat()
    #expect(told == ["STATUS=Serving: 1 connection, 0 deliveries of uploads\nWATCHDOG=1"])
    pawl.settle()
    let gate = Gate()
    pawl.server.loops[0].loop.run { gate.wait() }
    pulse.beat()
    #expect(told.count == 2)
    pulse.beat()
    pulse.beat()
    #expect(told.count == 2)
    #expect(pawl.events("loop-stuck") == ["warning loop-stuck seconds=2"])
    gate.open()
    pawl.settle()
    pulse.isDraining = true
    pulse.beat()
    #expect(told.last == "STATUS=Draining: 1 connection, 0 deliveries of uploads\nWATCHDOG=1")
    client.close()
    #expect(pawl.stop() == [])
  }
}
