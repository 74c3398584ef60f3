import CLinux
import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

func send(_ socket: CInt, _ bytes: [UInt8]) -> Int { CLinux.send(socket, bytes, bytes.count, pawl_MSG_NOSIGNAL) }

@Suite("TLS engine") struct TLSEngineTests {
  private func pair() throws -> EnginePair {
    let pair = try EnginePair(Made.server([Made.section("a", [Made.ecdsa])]), Made.client()).shake()
    try #require(pair.isDone)
    return pair
  }

  @Test("reads as many records as fit, and keeps the rest for the next call")
  func readsOn() throws {
    let pair = try pair()
    for text in ["one ", "two ", "three"] { #expect(pair.write(pair.client, text) == .bytes(text.utf8.count)) }
    #expect(pair.read(pair.server, 6) == (.bytes(6), "one tw"))
    #expect(pair.server.hasUnread)
    #expect(pair.read(pair.server) == (.bytes(7), "o three"))
    #expect(!pair.server.hasUnread)
    #expect(pair.read(pair.server).0 == .wouldBlock)
  }

  @Test("close_notify is an end, for ever; the other direction goes on")
  func ends() throws {
    let pair = try pair()
    #expect(pair.write(pair.client, "last") == .bytes(4))
    pair.client.endWriting()
    #expect(pair.read(pair.server) == (.bytes(4), "last"))
    #expect(pair.server.hasUnread)
    for _ in 0..<2 { #expect(pair.read(pair.server).0 == .end) }
    #expect(pair.write(pair.server, "answer") == .bytes(6))
    #expect(pair.read(pair.client) == (.bytes(6), "answer"))
    #expect(pair.write(pair.client, "more") == .failed(EPIPE))
    pair.server.endWriting()
    #expect(pair.read(pair.client).0 == .end)
  }

  @Test("the end of the connection without close_notify is no end")
  func truncates() throws {
    let pair = try pair()
    #expect(pair.write(pair.client, "half") == .bytes(4))
    shutdown(pair.sockets.1, CInt(SHUT_WR))
    #expect(pair.read(pair.server) == (.bytes(4), "half"))
    #expect(pair.read(pair.server).0 == .failed(ECONNRESET))
  }

  @Test("a record that was changed on its way breaks the connection, and an alert says so")
  func damaged() throws {
    let pair = try pair()
    #expect(send(pair.sockets.1, [23, 3, 3, 0, 20] + [UInt8](repeating: 7, count: 20)) == 25)
    #expect(pair.read(pair.server).0 == .failed(EPROTO))
    #expect(pair.write(pair.server, "x") == .failed(EPIPE))
    #expect(pair.read(pair.client).0 == .failed(EPROTO))
  }

  @Test("what is held back for company goes with it, in one call")
  func holds() throws {
    let pair = try pair()
    _ = pair.read(pair.client)
    #expect(pair.write(pair.server, "head ", more: true) == .bytes(5))
    #expect(pair.server.pendingCount > 0 && !pair.server.isBlocked)
    #expect(pair.read(pair.client).0 == .wouldBlock)
    #expect(pair.write(pair.server, "body") == .bytes(4))
    #expect(pair.server.pendingCount == 0)
    #expect(pair.read(pair.client) == (.bytes(9), "head body"))
    #expect(pair.write(pair.server, "alone", more: true) == .bytes(5))
    #expect(pair.server.flush())
    #expect(pair.read(pair.client) == (.bytes(5), "alone"))
  }

  @Test("for a peer that does not read it keeps one batch, takes no more, and loses nothing")
  func bounded() throws {
    let pair = try pair()
    let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var sent = 0
    func fill() -> TLSEngine.Step {
      block.withUnsafeBytes { pair.server.write(.init(rebasing: $0[sent...]), nothing, more: false, now: 0) }
    }
    while sent < block.count, case .bytes(let count) = fill() { sent += count }
    #expect(pair.server.isBlocked)
    #expect(
      pair.server.pendingCount > 0 && pair.server.pendingCount <= RecordScratch.gatherSize + RecordScratch.recordSize)
    #expect(fill() == .wouldBlock)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while received.count < block.count {
      if case .bytes(let count) = buffer.withUnsafeMutableBytes({ pair.client.read(into: $0) }) {
        received += buffer[..<count]
      }
      pair.server.flush()
      if sent < block.count, case .bytes(let count) = fill() { sent += count }
    }
    #expect(received == block)
    #expect(pair.server.pendingCount == 0 && !pair.server.isBlocked)
  }

  @Test("a peer that asks for answers of TLS itself and takes none is cut off", .timeLimit(.minutes(1)))
  func keyUpdates() throws {
    let pair = try pair()
    while case .bytes = pair.write(pair.server, String(repeating: "x", count: 1000)) {}
    #expect(pair.server.isBlocked)
    var rounds = 0
    while pair.server.writeFailure == nil, rounds < 100_000 {
      rounds += 1
      guard SSL_key_update(pair.client.ssl, SSL_KEY_UPDATE_REQUESTED) == 1 else { break }
      _ = pair.write(pair.client, "x")
      _ = pair.read(pair.server)
      #expect(pair.server.pendingCount <= TLSEngine.pendingLimit)
    }
    #expect(pair.server.writeFailure == ENOBUFS)
    #expect(pair.server.pendingCount == 0)
  }

  @Test("a file goes out as it is, and says where it ends")
  func files() throws {
    let pair = try pair()
    let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 5) }
    let path = Made.certificates.write(content, "content")
    let file = pawl_open(path, O_RDONLY, 0)
    defer { close(file) }
    #expect(pair.server.sendFile(file, offset: 10, count: 1_000_000, now: 0) == .bytes(99_990))
    #expect(pair.server.sendFile(file, offset: 100_000, count: 1, now: 0) == .end)
    #expect(pair.server.sendFile(file, offset: .max, count: 1, now: 0) == .end)
    #expect(pair.server.sendFile(-1, offset: 0, count: 1, now: 0) == .failed(EBADF))
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 30_000)
    while case .bytes(let count) = buffer.withUnsafeMutableBytes({ pair.client.read(into: $0) }) {
      received += buffer[..<count]
    }
    #expect(received == Array(content[10...]))
  }

  @Test("head and body that are written together share a record")
  func together() throws {
    let pair = try pair()
    _ = pair.read(pair.client)
    let (head, body) = ([UInt8](repeating: 1, count: 300), [UInt8](repeating: 2, count: 50_000))
    let sent = head.withUnsafeBytes { head in
      body.withUnsafeBytes { pair.server.write(head, $0, more: false, now: 0) }
    }
    #expect(sent == .bytes(50_300))
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case .bytes(let count) = buffer.withUnsafeMutableBytes({ pair.client.read(into: $0) }) {
      received += buffer[..<count]
    }
    #expect(received == head + body)
  }

  @Test("before the handshake and without a socket it does nothing, and fails")
  func early() throws {
    let pair = try EnginePair(Made.server([Made.section("a", [Made.ecdsa])]), Made.client())
    #expect(pair.write(pair.client, "x") == .failed(ENOTCONN))
    #expect(pair.read(pair.client).0 == .failed(ENOTCONN))
    #expect(pair.client.sendFile(0, offset: 0, count: 1, now: 0) == .failed(ENOTCONN))
    pair.client.endWriting()
    shutdown(pair.sockets.1, CInt(SHUT_WR))
    #expect(
      pair.server.handshake()
        == .failed(TLSFailure(.protocolError, "the peer closed the connection during the handshake")))
  }

  @Test("session tickets are no content")
  func tickets() throws {
    let pair = try pair()
    #expect(!pair.client.hasContent())
    #expect(pair.write(pair.server, "x") == .bytes(1))
    #expect(pair.client.hasContent())
    #expect(pair.read(pair.client) == (.bytes(1), "x"))
    pair.server.endWriting()
    #expect(pair.client.hasContent())
    #expect(pair.read(pair.client).0 == .end)
  }

  @Test("tickets wait for the answer to a request that came with the handshake's last flight")
  func ticketsWithAnswer() throws {
    let pair = try EnginePair(Made.server([Made.section("a", [Made.ecdsa])]), Made.client())
    guard !KernelTLS.isAvailable else { return }
    #expect(pair.client.handshake() == .wantsRead && pair.server.handshake() == .wantsRead)
    #expect(pair.client.handshake() == .done && pair.write(pair.client, "ask") == .bytes(3))
    #expect(pair.server.handshake() == .done && pair.server.hasUnread && pair.server.pendingCount > 0)
    #expect(pair.read(pair.server) == (.bytes(3), "ask"))
    #expect(pair.server.pendingCount > 0 && pair.read(pair.client).0 == .wouldBlock)
    #expect(pair.write(pair.server, "answer") == .bytes(6) && pair.server.pendingCount == 0)
    #expect(pair.read(pair.client) == (.bytes(6), "answer"))
  }

  @Test("tickets go out at once where nothing came behind the handshake")
  func ticketsAtOnce() throws {
    let pair = try pair()
    #expect(pair.server.pendingCount == 0)
  }

  @Test("who broke the connection off is not told of its end", arguments: [false, true])
  func noEndForNobody(isBroken: Bool) throws {
    let pair = try pair()
    if isBroken { shutdown(pair.sockets.1, CInt(SHUT_WR)) } else { pair.client.endWriting() }
    _ = pair.read(pair.client)
    #expect(pair.read(pair.server).0 == (isBroken ? .failed(ECONNRESET) : .end))
    pair.server.endWriting()
    var byte: UInt8 = 0
    #expect(recv(pair.sockets.1, &byte, 1, 0) == (isBroken ? -1 : 1))
  }

  @Test("the kernel is asked once whether it can, and only told to where it can")
  func kernel() throws {
    #expect(KernelTLS.isAvailable == KernelTLS.probe())
    if !KernelTLS.isAvailable { #expect(try !pair().server.kernelSends) }
  }
}
