import CLinux
import Testing

@testable import PawlLoop

@Suite("Listener", .timeLimit(.minutes(1))) struct ListenerTests {
  private func anyPort() throws -> SocketAddress { try #require(.parse("127.0.0.1:0")) }

  private func dial(_ address: SocketAddress, _ loop: EventLoop, _ peers: Keeper) {
    Connector.connect(to: address, loop: loop, timeout: .seconds(30)) { result in
      switch result {
      case .success(let stream): peers.streams.append(stream)
      case .failure(let error): peers.errors.append(error)
      }
    }
  }

  private final class Keeper {
    var streams: [SocketStream] = []
    var errors: [ConnectError] = []
  }

  @Test("takes every connection of a crowd, with the peer's address", arguments: ["127.0.0.1:0", "[::1]:0"])
  func acceptsMany(_ text: String) throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse(text)), loop: loop)
    #expect(listener.boundAddress.port != 0)
    var peers: [SocketAddress] = []
    let sockets = Keeper()
    listener.onAccept = { fd, peer in
      peers.append(peer)
      sockets.streams.append(SocketStream(adopting: fd, loop: loop, peer: peer))
    }
    let clients = Keeper()
    for _ in 0..<200 { dial(listener.boundAddress, loop, clients) }
    wait(loop) { clients.streams.count == 200 }
    try listener.start()
    wait(loop) { peers.count == 200 }
    #expect(Set(peers) == Set(clients.streams.compactMap(\.local)))
  }

  @Test("takes the connections that wait before it is closed, so that none of them is reset")
  func acceptsRest() throws {
    let folder = try TemporaryFolder()
    let loop = try EventLoop(index: 0)
    let address = try #require(SocketAddress.unix(path: "\(folder.path)/socket"))
    let listener = try Listener(address: address, loop: loop)
    let accepted = Keeper()
    listener.onAccept = { fd, peer in accepted.streams.append(SocketStream(adopting: fd, loop: loop, peer: peer)) }
    let clients = Keeper()
    for _ in 0..<100 { dial(address, loop, clients) }
    wait(loop) { clients.streams.count == 100 }
    listener.acceptRest()
    #expect(accepted.streams.count == 100)
    listener.close()
    listener.acceptRest()
    #expect(accepted.streams.count == 100)
  }

  @Test(
    "what stays on this machine is not paced, on either side; what the system has chosen stays for everybody else",
    arguments: [
      ("127.0.0.1:0", "127.0.0.1", "reno"), ("[::1]:0", "[::1]", "reno"), ("0.0.0.0:0", "127.0.0.1", nil),
      ("[::]:0", "[::1]", nil),
    ] as [(String, String, String?)])
  func localTrafficIsNotPaced(_ text: String, _ host: String, _ ofListener: String?) throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse(text)), loop: loop)
    let accepted = Keeper()
    listener.onAccept = { fd, peer in accepted.streams.append(SocketStream(adopting: fd, loop: loop, peer: peer)) }
    try listener.start()
    let clients = Keeper()
    dial(try #require(.literal(host, port: listener.boundAddress.port)), loop, clients)
    wait(loop) { clients.streams.count == 1 && accepted.streams.count == 1 }
    #expect(congestionControl(listener.rawDescriptor) == ofListener ?? systemCongestionControl())
    for stream in clients.streams + accepted.streams { #expect(congestionControl(stream.rawDescriptor) == "reno") }
  }

  @Test("takes more connections a turn the longer a flood of them lasts, and never more than 64")
  func boundsTurns() throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try anyPort(), loop: loop)
    let clients = Keeper()
    for _ in 0..<300 { dial(listener.boundAddress, loop, clients) }
    wait(loop) { clients.streams.count == 300 }
    var (accepted, counted) = (0, 0)
    var turns: [Int] = []
    listener.onAccept = { fd, _ in
      close(fd)
      if accepted == counted {
        loop.nextTurn {
          turns.append(accepted - counted)
          counted = accepted
        }
      }
      accepted += 1
    }
    try listener.start()
    wait(loop) { counted == 300 }
    #expect(
      turns.starts(with: [1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 64, 64]) && turns.allSatisfy { $0 <= AcceptPace.most })
  }

  @Test("what it accepts has its options: nothing is held back, nothing blocks", arguments: ["127.0.0.1:0", "[::1]:0"])
  func options(_ text: String) throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse(text)), loop: loop)
    let accepted = Keeper()
    listener.onAccept = { fd, _ in accepted.streams.append(SocketStream(accepted: fd, loop: loop)) }
    try listener.start()
    let clients = Keeper()
    dial(listener.boundAddress, loop, clients)
    wait(loop) { clients.streams.count == 1 && accepted.streams.count == 1 }
    let socket = accepted.streams[0].rawDescriptor
    #expect(socketOption(socket, CInt(IPPROTO_TCP), TCP_NODELAY) == 1)
    #expect(pawl_fcntl(socket, F_GETFL, 0) & O_NONBLOCK != 0)
  }

  @Test("out of descriptors it says so once, rests for 100 ms and goes on", arguments: [EMFILE, ENFILE])
  func restsWhenExhausted(_ code: CInt) throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let original = try Listener(address: try anyPort(), loop: loop)
    var calls = 0
    let listener = try Listener(sharing: original, loop: loop) { fd in
      calls += 1
      if calls == 1 { return .none(code) }
      let socket = withAddressSpace { pawl_accept(fd, $0, $1) }.result
      return socket >= 0 ? .connection(socket, original.boundAddress) : .none(EAGAIN)
    }
    _ = pawl_fcntl(listener.rawDescriptor, F_SETFL, O_NONBLOCK)
    var troubles: [Listener.Trouble] = []
    var accepted = 0
    listener.onTrouble = { troubles.append($0) }
    listener.onAccept = { fd, _ in
      accepted += 1
      close(fd)
    }
    try listener.start()
    let clients = Keeper()
    dial(listener.boundAddress, loop, clients)
    wait(loop) { !troubles.isEmpty }
    var isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
    #expect(troubles == [.exhausted(code)])
    #expect(calls == 1)
    clock.advance(by: .milliseconds(100))
    wait(loop) { accepted == 1 }
    #expect(troubles.count == 1)
  }

  @Test("may be closed while it accepts, and is refused to later clients")
  func closesInCallback() throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try anyPort(), loop: loop)
    var accepted = 0
    listener.onAccept = { fd, _ in
      accepted += 1
      close(fd)
      listener.close()
    }
    try listener.start()
    let clients = Keeper()
    dial(listener.boundAddress, loop, clients)
    wait(loop) { accepted == 1 }
    dial(listener.boundAddress, loop, clients)
    wait(loop) { !clients.errors.isEmpty }
    #expect(clients.errors == [.refused])
  }

  @Test("the listeners of one process share an address; another process's first one is refused")
  func sharesPort() throws {
    let loop = try EventLoop(index: 0)
    let first = try Listener(address: try anyPort(), loop: loop, sharing: .first)
    let second = try Listener(address: first.boundAddress, loop: loop, sharing: .further)
    #expect(second.boundAddress == first.boundAddress)
    for sharing in [PortSharing.alone, .first] {
      #expect(throws: LoopError.addressInUse(first.boundAddress)) {
        try Listener(address: first.boundAddress, loop: loop, sharing: sharing)
      }
    }
    let alone = try Listener(address: try anyPort(), loop: loop)
    #expect(throws: LoopError.addressInUse(alone.boundAddress)) {
      try Listener(address: alone.boundAddress, loop: loop, sharing: .further)
    }
    let foreign = try #require(SocketAddress.parse("192.0.2.1:0"))
    #expect(throws: LoopError.addressNotAvailable(foreign)) { try Listener(address: foreign, loop: loop) }
  }

  @Test("connections to a shared unix socket are taken on both loops' listeners")
  func sharesUnixSocket() throws {
    let loop = try EventLoop(index: 0)
    let folder = try TemporaryFolder()
    let first = try Listener(address: try #require(.unix(path: "\(folder.path)/socket")), loop: loop)
    let second = try Listener(sharing: first, loop: loop)
    var accepted = 0
    second.onAccept = { fd, peer in
      #expect(peer.isUnix)
      accepted += 1
      close(fd)
    }
    try second.start()
    let clients = Keeper()
    dial(first.boundAddress, loop, clients)
    wait(loop) { accepted == 1 }
  }

  @Test("that ends accepts the connections that wait first")
  func closesAfterWaiting() throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try anyPort(), loop: loop)
    let (accepted, clients) = (Keeper(), Keeper())
    listener.onAccept = { fd, peer in accepted.streams.append(SocketStream(adopting: fd, loop: loop, peer: peer)) }
    for _ in 0..<3 { dial(listener.boundAddress, loop, clients) }
    wait(loop) { clients.streams.count == 3 }
    // The kernel passes on a connection when its first bytes have come.
    for client in clients.streams { Array("x".utf8).withUnsafeBytes { _ = client.write($0, more: false) } }
    listener.acceptRest()
    listener.close()
    #expect(accepted.streams.count == 3 && listener.rawDescriptor == -1)
    dial(listener.boundAddress, loop, clients)
    wait(loop) { clients.errors.count == 1 }
  }

  @Test("may share its port with an address that includes its own, if it is asked to")
  func overlaps() throws {
    let loop = try EventLoop(index: 0)
    let one = try Listener(address: try anyPort(), loop: loop)
    let all = try #require(SocketAddress.parse("0.0.0.0:\(one.boundAddress.port)"))
    #expect(throws: LoopError.addressInUse(all)) { try Listener(address: all, loop: loop) }
    #expect(throws: LoopError.addressInUse(all)) { try Listener(address: all, loop: loop, sharing: .further) }
    one.allowSharing()
    #expect(try Listener(address: all, loop: loop, sharing: .further).boundAddress == all)
  }
}
