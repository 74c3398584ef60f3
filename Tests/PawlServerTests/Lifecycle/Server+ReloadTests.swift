import CLinux
import PawlConfig
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A reload") struct ServerReloadTests {
  private static let options = "OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n"

  private func load(_ pawl: TestServer, _ change: (inout TestServer.Changes) -> Void = { _ in }) throws
    -> PawlConfig.Configuration
  {
    try TestServer.configuration(url: "http://127.0.0.1:1", in: pawl.folder, change)
  }

  private func status(_ client: ScriptedClient) -> Int {
    client.send(Self.options)
    return client.readAnswer().status
  }

  @Test("begins to listen on a new address; one that is gone accepts nothing more, and its connections go on")
  func addresses() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let first = pawl.port
    let more = "[listen:more]\naddress = 127.0.0.2:0"
    #expect(pawl.server.reload(try load(pawl) { $0.more = more }) == ReloadOutcome(isApplied: true))
    #expect(pawl.server.addresses.map(\.hostText) == ["127.0.0.1", "127.0.0.2"] && pawl.port == first)
    let client = ScriptedClient(host: 0x7f00_0002, port: pawl.server.addresses[1].port)
    #expect(status(client) == 200)
    let gone = pawl.server.addresses[1]
    #expect(pawl.server.reload(try load(pawl)) == ReloadOutcome(isApplied: true))
    #expect(pawl.server.addresses.map(\.port) == [first])
    #expect(!isAccepted(gone))
    #expect(status(client) == 200)
  }

  /// Whether a connection to the address is accepted.
  private func isAccepted(_ address: SocketAddress) -> Bool {
    let socket = CLinux.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    return address.withSockaddr { pawl_connect(socket, $0, $1) } == 0
  }

  @Test("gives present connections the new limits for their next request")
  func limits() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = pawl.connect()
    #expect(status(client) == 200)
    pawl.server.reload(try load(pawl) { $0.listen = "max-header = 1K" })
    client.send("OPTIONS * HTTP/1.1\r\nHost: site\r\nA: \(String(repeating: "a", count: 2000))\r\n\r\n")
    #expect(client.readAnswer().status == 431)
  }

  @Test("turns TLS on and off on an address that stays; connections that run stay as they are")
  func secure() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let certificates = TestCertificates()
    let certificate = certificates.make(names: ["a.example"])
    let (clear, port) = (pawl.connect(), pawl.port)
    #expect(status(clear) == 200)
    let section = "[tls:a]\ncertificate = \(certificate.certificate)\nkey = \(certificate.key)"
    let secure = try load(pawl) {
      $0.listen = "tls = a"
      $0.more = section
    }
    #expect(pawl.server.reload(secure).isApplied)
    #expect(pawl.server.urls == ["https://127.0.0.1:\(port)"])
    let client = pawl.connect()
    #expect(client.secure(TLSOffer("a.example")) == nil)
    #expect(client.handshake?.certificate == certificate.der)
    #expect(status(client) == 200 && status(clear) == 200)
    #expect(pawl.server.reload(try load(pawl)).isApplied)
    #expect(status(pawl.connect()) == 200 && status(client) == 200)
  }

  @Test("that cannot bind an address changes nothing at all, and says which line is wrong")
  func taken() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let other = try TestServer(url: "http://127.0.0.1:1")
    let new = try load(pawl) {
      $0.pawl = "max-connections = 7"
      $0.listen = "address = 127.0.0.2:0\naddress = 127.0.0.1:\(other.port)\nmax-header = 1K"
      $0.site = "max-ranges = 3"
    }
    let before = (pawl.server.admission.settings.limit, pawl.server.addresses)
    let line = "\(new.place(of: "address", "127.0.0.1:\(other.port)", in: "listen:default"))"
    #expect(
      pawl.server.reload(new)
        == ReloadOutcome(
          isApplied: false,
          mistakes: [
            "\(line): [listen:default] address: cannot listen on 127.0.0.1:\(other.port): "
              + "127.0.0.1:\(other.port) is already in use"
          ]))
    #expect((pawl.server.admission.settings.limit, pawl.server.addresses) == before)
    #expect(pawl.onLoop { $0.listeners.map(\.settings.maxHeader) } == [32 << 10])
    #expect(pawl.onLoop { $0.boundListeners.count } == 0)
    #expect(pawl.onLoop { $0.services.router.all[0].maxRanges } == 16)
    #expect(pawl.server.configuration.process.maxConnections == nil)
    #expect(pawl.events("reloaded") == [] && pawl.events("reload-failed").count == 1)
  }

  @Test("replaces an address by one that includes it, and the other way round")
  func overlapping() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    func listening(on addresses: String) throws -> PawlConfig.Configuration {
      var new = try load(pawl) { $0.listen = "address = \(addresses)" }
      new.listeners[0].addresses.removeFirst()
      return new
    }
    let free = try TestServer(url: "http://127.0.0.1:1")
    let port = free.port
    free.stop()
    for host in ["127.0.0.1", "0.0.0.0", "127.0.0.1"] {
      #expect(pawl.server.reload(try listening(on: "\(host):\(port)")) == ReloadOutcome(isApplied: true))
      #expect(pawl.server.addresses.map(\.description) == ["\(host):\(port)"])
      #expect(status(pawl.connect()) == 200)
    }
  }

  @Test("refuses nobody while it runs, again and again")
  func load() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.pawl = "" }
    let (isOver, refused, served) = (TestLock(false), TestLock(0), TestLock(0))
    let (address, port) = (pawl.server.addresses[0], pawl.port)
    let knocking = TestThread {
      while !isOver.withLock({ $0 }) {
        guard isAccepted(address) else {
          refused.withLock { $0 += 1 }
          continue
        }
        let client = ScriptedClient(port: port)
        if status(client) == 200 { served.withLock { $0 += 1 } }
        client.close()
      }
    }
    for round in 0..<100 {
      let new = try load(pawl) {
        $0.listen = "max-header = \(round % 9 + 1)K\nproxy-protocol = off"
        $0.site = "max-ranges = \(round + 1)"
        $0.more = round % 2 == 0 ? "[listen:more]\naddress = 127.0.0.2:0" : ""
      }
      #expect(pawl.server.reload(new) == ReloadOutcome(isApplied: true))
    }
    pawl.waitUntil("a client was served") { served.withLock { $0 } > 0 }
    isOver.withLock { $0 = true }
    knocking.join()
    #expect(refused.withLock { $0 } == 0)
  }

  @Test("waits for another one, and is not lost")
  func several() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let all = try (1...8).map { number in try load(pawl) { $0.site = "max-ranges = \(number)" } }
    let threads = all.map { new in TestThread { pawl.server.reload(new) } }
    for thread in threads { thread.join() }
    #expect(pawl.events("reloaded").count == 8)
    let last = pawl.server.configuration.sites.first?.settings.maxRanges
    #expect(pawl.onLoop { $0.services.router.all[0].maxRanges } == last)
  }

  @Test("is refused while pawl ends")
  func draining() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    pawl.server.drain {}
    #expect(
      pawl.server.reload(try load(pawl))
        == ReloadOutcome(isApplied: false, mistakes: ["pawl is ending, and takes no new settings"]))
  }

  @Test("closes idle connections to upstreams that are gone, and keeps nothing of them")
  func upstreams() throws {
    let origin = ScriptedOrigin(scripts: [[.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]])
    let pawl = try TestServer(origin) { $0.site = "cache = off" }
    #expect(pawl.get().status == 200)
    weak let old = pawl.server.parts.withLock { $0.upstreams["app"]?.upstream }
    pawl.server.reload(
      try TestServer.configuration(url: "http://127.0.0.1:\(origin.port)", in: pawl.folder) {
        $0.upstream = "connect-timeout = 9s"
        $0.site = "cache = off"
      })
    pawl.waitUntil("the former upstream is gone") {
      pawl.settle()
      return old == nil
    }
    #expect(pawl.stop() == [])
  }
}
