import PawlLoop
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Connections that do not come about", .timeLimit(.minutes(1))) struct LinkTests {
  @Test("are counted where nobody listens")
  func refused() throws {
    let address = try #require(SocketAddress.parse("127.0.0.1:\(ScriptedOrigin.closedPort())"))
    let tally = try Performing.run(Performing.settings(.hit), address, operations: 2)
    #expect(tally.failures == [.connect: 2] && tally.connections == 2 && tally.completed == 0)
  }

  @Test("are counted where the other side speaks no TLS")
  func noTLS() throws {
    let server = ScriptedOrigin(.tcp, [.read(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n")])
    var settings = try Performing.settings(.hit)
    settings.target = try Target("https://127.0.0.1/")
    let loop = try EventLoop(index: 0)
    var isOver = false
    let address = try #require(SocketAddress.parse("127.0.0.1:\(server.port)"))
    let place = ServerPlace(address: address, tls: try TLSClientContext(TLSClientSettings(verifies: false)))
    let worker = Worker(
      loop, index: 0, settings: settings, server: place, reference: nil, body: nil, exhausted: { isOver = true })
    Lanes.build(worker, connections: 1, before: 0)
    try worker.start(operations: 1, at: worker.now)
    loop.turn { !isOver }
    #expect(worker.takeTally().failures == [.handshake: 1])
    #expect(worker.trouble?.hasPrefix("TLS: ") == true)
    worker.stop()
    #expect(server.finish() == [])
  }
}
