import CLinux
import Testing

@testable import PawlLoop

@Suite("Sockets that another program has bound", .timeLimit(.minutes(1))) struct InheritedSocketsTests {
  /// Listening sockets with descriptors that follow each other, as systemd passes them.
  private final class Passed {
    let first: CInt
    let count: Int
    init(_ addresses: [String]) throws {
      let sockets = try addresses.map { text in
        let address = try #require(SocketAddress.parse(text))
        let raw = try bindSocket(address).release()
        #expect(listen(raw, 16) == 0)
        return raw
      }
      count = sockets.count
      first = try Self.following(sockets)
      for raw in sockets { close(raw) }
    }

    /// Copies the sockets to numbers that follow each other. Other tests open files meanwhile, so the kernel chooses the numbers.
    private static func following(_ sockets: [CInt]) throws -> CInt {
      while true {
        let copies = sockets.map { pawl_fcntl($0, F_DUPFD, 200) }
        let first = try #require(copies.first)
        if copies == (0..<CInt(copies.count)).map({ first + $0 }), first > 0 { return first }
        for copy in copies { close(copy) }
      }
    }
  }

  @Test("are taken once, by name, by number or by address; the rest is closed")
  func taking() throws {
    let passed = try Passed(["127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"])
    let sockets = InheritedSockets(count: 4, names: ["web", "web", "", "admin"], first: passed.first)
    let web = sockets.take(named: "web")
    #expect(web.map(\.descriptor) == [passed.first, passed.first + 1])
    #expect(sockets.take(named: "web").isEmpty && sockets.take(named: "0").isEmpty)
    #expect(sockets.take(named: "2").map(\.descriptor) == [passed.first + 2])
    let address = try #require(socketAddress(passed.first + 3, pawl_getsockname))
    #expect(sockets.has(boundTo: address) && !sockets.has(boundTo: address.withPort(1)))
    #expect(sockets.take(boundTo: address.withPort(1)).isEmpty)
    #expect(sockets.closeUnused() == ["admin \(address)"])
    #expect(!isOpen(passed.first + 3) && isOpen(passed.first))
    for descriptor in passed.first..<passed.first + 3 { close(descriptor) }
  }

  @Test("are neither blocking nor inherited by programs that pawl starts")
  func flags() throws {
    let passed = try Passed(["127.0.0.1:0"])
    let sockets = InheritedSockets(count: 1, names: [], first: passed.first)
    #expect(pawl_fcntl(passed.first, F_GETFD, 0) & FD_CLOEXEC != 0)
    #expect(pawl_fcntl(passed.first, F_GETFL, 0) & O_NONBLOCK != 0)
    let address = try #require(socketAddress(passed.first, pawl_getsockname))
    #expect(sockets.closeUnused() == ["\(address)"])
  }

  @Test("what is no listening stream socket is closed and named")
  func unusable() throws {
    let pair = try socketPair()
    let sockets = InheritedSockets(count: 1, names: ["odd"], first: pair.0)
    #expect(sockets.closeUnused() == ["descriptor \(pair.0) odd: not a listening stream socket"])
    #expect(!isOpen(pair.0))
    close(pair.1)
  }

  @Test("one socket serves two loops; each connection comes once")
  func shared() throws {
    let loop = try EventLoop(index: 0)
    let passed = try Passed(["127.0.0.1:0"])
    let socket = try #require(InheritedSockets(count: 1, names: [], first: passed.first).take(named: "0").first)
    var accepted = 0
    let listeners = [Listener(adopting: try socket.copied(), loop: loop), Listener(adopting: socket, loop: loop)]
    for listener in listeners {
      listener.onAccept = { descriptor, _ in
        accepted += 1
        close(descriptor)
      }
      try listener.start()
    }
    var streams: [SocketStream] = []
    for _ in 0..<8 {
      Connector.connect(to: socket.address, loop: loop, timeout: .seconds(30)) { result in
        if case .success(let stream) = result { streams.append(stream) }
      }
    }
    wait(loop) { streams.count == 8 && accepted == 8 }
    for listener in listeners { listener.close() }
    #expect(!isOpen(passed.first))
  }

  @Test("the file of a unix socket goes with its listener if pawl made it, and stays if another program did")
  func files() throws {
    let loop = try EventLoop(index: 0)
    for (mark, stays) in [("", true), (InheritedSockets.ownedMark, false)] {
      let path = "/tmp/pawl-inherited-\(getpid())"
      defer { unlink(path) }
      let passed = try Passed(["unix:\(path)"])
      let sockets = InheritedSockets(handed: "unix:\(path)\(mark)", first: passed.first)
      let socket = try #require(sockets.take(named: "unix:\(path)").first)
      #expect(socket.ownsFile != stays)
      let listener = Listener(adopting: socket, loop: loop)
      #expect(listener.ownsFile != stays)
      listener.close()
      #expect((access(path, F_OK) == 0) == stays, "marked \(mark.isEmpty ? "no" : "yes")")
    }
  }

  @Test("pawl's own sockets are bound early, one for each loop, at the same port")
  func early() throws {
    let sockets = InheritedSockets()
    let name = try sockets.bind(
      try #require(.parse("127.0.0.1:0")), count: 3, mode: nil, owner: (user: getuid(), group: getgid()))
    let bound = sockets.take(named: name)
    #expect(bound.count == 3 && Set(bound.map(\.address)).count == 1 && bound[0].address.port != 0)
    for socket in bound { close(socket.descriptor) }
  }
}
