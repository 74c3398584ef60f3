import PawlConfig
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The server") struct ServerTests {
  @Test("drains: idle connections end, transfers go on to their end, nobody new is let in")
  func drain() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"), .wait(gate), .send("lf"), .readToEnd])
    let pawl = try TestServer(origin)
    let (idle, busy) = (pawl.connect(), pawl.connect())
    idle.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
    #expect(idle.readAnswer().status == 200)
    busy.send(TestServer.request())
    _ = busy.readHead()
    #expect(busy.read(2) == Array("ha".utf8))
    let drained = Gate()
    pawl.server.drain { drained.open() }
    #expect(idle.readToEnd() == ([], .inOrder))
    pawl.settle()
    #expect(!drained.isOpen)
    gate.open()
    #expect(busy.read(2) == Array("lf".utf8))
    #expect(busy.readToEnd() == ([], .inOrder))
    // Until the client has ended its side too, what it still sends is read, so that no reset overtakes the answer.
    busy.close()
    #expect(drained.wait())
    #expect(pawl.stop() == [])
  }

  @Test("a request that came before the end, and was not read yet, is answered; it is the last on its connection")
  func unread() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = pawl.connect()
    let request = "OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n"
    client.send(request)
    #expect(client.readAnswer().status == 200)
    pawl.onLoop { loop in
      client.send(request)
      loop.drain()
    }
    let answer = client.readAnswer()
    #expect(answer.status == 200)
    #expect(answer["Connection"] == "close")
    #expect(client.readToEnd() == ([], .inOrder))
  }

  @Test(
    "a connection without a request yet has a second for it in a drain, and header-timeout when a new process takes over"
  )
  func fresh() throws {
    for isReplaced in [false, true] {
      let pawl = try TestServer(url: "http://127.0.0.1:1")
      let (fresh, used) = (pawl.connect(), pawl.connect())
      used.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
      #expect(used.readAnswer().status == 200)
      pawl.waitUntil("both are there") { pawl.onLoop { $0.connections.members.count } == 2 }
      pawl.onLoop { isReplaced ? $0.beginHandOver() : $0.drain() }
      #expect(used.readToEnd() == ([], .inOrder))
      pawl.settle()
      #expect(fresh.isQuiet)
      if isReplaced {
        pawl.clock.advance(by: LoopConnections.endGrace)
        pawl.settle()
        #expect(fresh.isQuiet)
        fresh.send("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n")
        let answer = fresh.readAnswer()
        #expect(answer.status == 200 && answer["Connection"] == "close")
      } else {
        pawl.clock.advance(by: LoopConnections.endGrace)
      }
      #expect(fresh.readToEnd().bytes == [])
    }
  }

  @Test("cuts what is left when the time for draining is over, visibly")
  func cut() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"), .wait(gate)])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(2) == Array("ha".utf8))
    let drained = Gate()
    pawl.server.drain { drained.open() }
    pawl.server.cutRemaining()
    #expect(client.readToEnd().bytes == [])
    #expect(drained.wait())
    gate.open()
    #expect(pawl.record(1, "ended_by", "end_reason") == ["pawl", "shutdown"])
    #expect(pawl.stop() == [])
  }

  @Test("takes a new configuration without touching connections; what is stored stays")
  func reload() throws {
    let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 3\r\n\r\n"
    let (old, new) = (
      ScriptedOrigin(.tcp, [.expectHead, .send(answer + "old"), .readToEnd]),
      ScriptedOrigin(.tcp, [.expectHead, .send(answer + "new"), .readToEnd])
    )
    let pawl = try TestServer(old)
    let client = pawl.connect()
    client.send(TestServer.request())
    #expect(client.readAnswer().text == "old")
    pawl.server.reload(
      try TestServer.configuration(url: "http://127.0.0.1:\(new.port)", in: pawl.folder))
    pawl.settle()
    client.send(TestServer.request())
    #expect(client.readAnswer().text == "old")
    client.send(TestServer.request("/g"))
    #expect(client.readAnswer().text == "new")
    #expect(pawl.events("reloaded").count <= 1)
    client.close()
    #expect(pawl.stop() == [] && new.finish() == [])
  }

  @Test("says what keeps it from starting")
  func cannotStart() throws {
    let first = try TestServer(url: "http://127.0.0.1:1")
    let inUse = "a directory that another process has"
    #expect(throws: ServerError.self, "\(inUse)") { try TestServer(url: "http://127.0.0.1:1", in: first.folder) }
    let port = first.port
    let taken = try TestServer.configuration(url: "http://127.0.0.1:1", in: TemporaryFolder()) {
      $0.listen = "address = 127.0.0.1:\(port)"
    }
    #expect(!taken.listeners.isEmpty)
  }

  @Test(
    "believes trusted proxies, and nobody else",
    arguments: [("127.0.0.0/8", true), ("192.0.2.0/24", false), ("none", false)])
  func trust(_ ranges: String, _ isTrusted: Bool) throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.pawl = "trusted-proxies = \(ranges)" }
    #expect(pawl.server.admission.isTrusted(SocketAddress.parse("127.0.0.1:9")) == isTrusted)
    #expect(!pawl.server.admission.isTrusted(nil))
  }
}
