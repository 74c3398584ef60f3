import CLinux
import Testing

@testable import PawlLoop

@Suite("Connector", .timeLimit(.minutes(1))) struct ConnectorTests {
  private func outcome(
    _ address: SocketAddress, _ loop: EventLoop, timeout: Duration = .seconds(30)
  ) -> Result<SocketStream, ConnectError>? {
    var result: Result<SocketStream, ConnectError>?
    Connector.connect(to: address, loop: loop, timeout: timeout) { result = $0 }
    #expect(result == nil, "the completion came before connect returned")
    wait(loop) { result != nil }
    return result
  }

  private func error(_ result: Result<SocketStream, ConnectError>?) -> ConnectError? {
    if case .failure(let error) = result { error } else { nil }
  }

  @Test("connects over TCP and to a unix socket")
  func connects() throws {
    let loop = try EventLoop(index: 0)
    let folder = try TemporaryFolder()
    for text in ["127.0.0.1:0", "[::1]:0", "unix:\(folder.path)/socket"] {
      let listener = try Listener(address: try #require(.parse(text)), loop: loop)
      let stream = try #require(try outcome(listener.boundAddress, loop)?.get())
      #expect(stream.peer == listener.boundAddress)
      #expect(!stream.isClosed && !stream.isReading)
    }
  }

  @Test("tells why it could not")
  func tellsWhy() throws {
    let loop = try EventLoop(index: 0)
    let folder = try TemporaryFolder()
    let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop)
    let deserted = listener.boundAddress
    listener.close()
    #expect(error(outcome(deserted, loop)) == .refused)
    let missing = try #require(SocketAddress.unix(path: "\(folder.path)/socket"))
    #expect(error(outcome(missing, loop)) == .unreachable(ENOENT))
    do { _ = try bindSocket(missing) }
    #expect(error(outcome(missing, loop)) == .refused)
  }

  @Test("gives up when the time is over")
  func timesOut() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    // A backlog of one that is full answers no further handshake.
    let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop, backlog: 0)
    var results: [Result<SocketStream, ConnectError>] = []
    for _ in 0..<4 {
      Connector.connect(to: listener.boundAddress, loop: loop, timeout: .seconds(5)) { results.append($0) }
    }
    wait(loop) { !results.isEmpty }
    clock.advance(by: .seconds(5))
    wait(loop) { results.count == 4 }
    #expect(results.contains { error($0) == .timedOut })
  }

  @Test("waits for room in the backlog of a unix socket")
  func waitsForRoom() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let folder = try TemporaryFolder()
    let address = try #require(SocketAddress.unix(path: "\(folder.path)/socket"))
    let listener = try Listener(address: address, loop: loop, backlog: 0)
    var results: [Result<SocketStream, ConnectError>] = []
    for _ in 0..<3 {
      Connector.connect(to: address, loop: loop, timeout: .seconds(5)) { results.append($0) }
    }
    var isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
    #expect(results.count < 3)
    listener.onAccept = { fd, _ in
      close(fd)
      clock.advance(by: Connector.retryPause)
    }
    try listener.start()
    wait(loop) { results.count == 3 }
    #expect(results.allSatisfy { error($0) == nil })
  }

  @Test("cancelled it calls nobody, lets go of the completion and frees its socket")
  func cancels() throws {
    final class Token {}
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop)
    weak var seen: Token?
    weak var connector: Connector?
    do {
      let token = Token()
      seen = token
      let attempt = Connector.connect(to: listener.boundAddress, loop: loop, timeout: .seconds(30)) { _ in
        withExtendedLifetime(token) { _ = Issue.record("called after cancel") }
      }
      connector = attempt
      attempt.cancel()
      attempt.cancel()
    }
    #expect(seen == nil && connector == nil)
    var isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
  }

  @Test("lives without an owner until it is done, and no longer")
  func livesByItself() throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop)
    weak var connector: Connector?
    var isDone = false
    connector = Connector.connect(to: listener.boundAddress, loop: loop, timeout: .seconds(30)) { _ in isDone = true }
    #expect(connector != nil)
    wait(loop) { isDone }
    #expect(connector == nil)
  }

  @Test("an attempt under way does not keep an ended loop alive")
  func endsWithTheLoop() throws {
    weak var seen: EventLoop?
    do {
      let loop = try EventLoop(index: 0)
      seen = loop
      let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop)
      Connector.connect(to: listener.boundAddress, loop: loop, timeout: .seconds(30)) { _ in }
      loop.stop()
      loop.runUntilStopped()
    }
    #expect(seen == nil)
  }

  @Test(
    "maps errors",
    arguments: [
      (ECONNREFUSED, ConnectError.refused), (ETIMEDOUT, .timedOut), (ENETUNREACH, .unreachable(ENETUNREACH)),
      (EHOSTUNREACH, .unreachable(EHOSTUNREACH)), (EMFILE, .noDescriptors(EMFILE)), (ECONNRESET, .failed(ECONNRESET)),
    ])
  func maps(_ code: CInt, _ expected: ConnectError) {
    #expect(ConnectError(code: code) == expected)
    #expect(!expected.description.isEmpty)
  }
}
