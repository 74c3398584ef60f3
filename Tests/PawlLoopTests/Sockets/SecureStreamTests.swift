import CLinux
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlLoop

@Suite("TLS on a socket stream", .timeLimit(.minutes(1))) struct SecureStreamTests {
  private func pair() throws -> SecurePair {
    let pair = try SecurePair(TestTLS.server(), TestTLS.client()).shake()
    try #require(pair.server.isDone && pair.client.isDone)
    return pair
  }

  /// Bytes without a period that a batch of records could hide.
  private func pattern(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  @Test("shakes hands and carries bytes both ways")
  func carries() throws {
    let pair = try pair()
    #expect(pair.client.send("hello") == .bytes(5))
    wait(pair.loop) { pair.server.text == "hello" }
    #expect(pair.server.send("world") == .bytes(5))
    wait(pair.loop) { pair.client.text == "world" }
    #expect(pair.server.stream.tls?.version == .v13)
    #expect(pair.server.stream.tls?.applicationProtocol == Array("http/1.1".utf8))
    #expect(pair.server.stream.tls?.serverName == Array("a.example".utf8))
    #expect(pair.client.stream.tls?.cipher == "TLS_AES_128_GCM_SHA256")
  }

  @Test("takes bytes one by one, of the handshake and after it")
  func oneByOne() throws {
    let loop = try EventLoop(index: 0)
    let (a, near) = try socketPair()
    let (far, b) = try socketPair()
    let server = SecurePeer(a, loop, try TestTLS.server().makeEngine())
    let client = SecurePeer(b, loop, try TestTLS.client().makeEngine(serverName: "a.example", place: "x"))
    // Between them stands somebody who hands on one byte at a time.
    let relay = [Peer(near, loop), Peer(far, loop)]
    for (index, peer) in relay.enumerated() {
      peer.onReadable = { [unowned peer, unowned other = relay[1 - index]] in
        var byte: [UInt8] = [0]
        guard case .bytes(1) = byte.withUnsafeMutableBytes({ peer.stream.read(into: $0) }) else { return }
        #expect(byte.withUnsafeBytes { other.stream.write($0, more: false) } == .bytes(1))
      }
      peer.stream.startReading()
    }
    server.shake()
    client.shake()
    wait(loop) { server.isDone && client.isDone }
    #expect(client.send("letter by letter") == .bytes(16))
    wait(loop) { server.text == "letter by letter" }
    for peer in relay { peer.onReadable = nil }
  }

  @Test("large bodies go both ways at once and arrive as they were", arguments: [false, true])
  func large(_ fromFile: Bool) throws {
    let pair = try pair()
    let content = pattern(2 << 20)
    let file = try temporaryFile(content)
    for peer in [pair.server, pair.client] {
      var sent = 0
      let pump: () -> Void = { [unowned peer] in
        while sent < content.count {
          let result =
            fromFile
            ? peer.stream.sendFile(file.raw, offset: UInt64(sent), count: content.count - sent)
            : content.withUnsafeBytes { peer.stream.write(.init(rebasing: $0[sent...]), more: false) }
          guard case .bytes(let count) = result else {
            #expect(result == .wouldBlock)
            return peer.stream.wantWritable()
          }
          sent += count
        }
      }
      peer.onWritable = pump
      pump()
    }
    wait(pair.loop) { pair.server.received.count >= content.count && pair.client.received.count >= content.count }
    #expect(pair.server.received == content)
    #expect(pair.client.received == content)
    (pair.server.onWritable, pair.client.onWritable) = (nil, nil)
  }

  @Test("many small writes arrive in order, held back or not", arguments: [false, true])
  func small(_ more: Bool) throws {
    let pair = try pair()
    var expected = ""
    for number in 0..<2000 {
      let text = "\(number) "
      expected += text
      #expect(pair.server.send(text, more: more && number % 7 != 0) == .bytes(text.utf8.count))
      if number % 100 == 0 {
        var isThrough = false
        pair.loop.nextTurn { isThrough = true }
        wait(pair.loop) { isThrough }
      }
    }
    wait(pair.loop) { pair.client.received.count == expected.utf8.count }
    #expect(pair.client.text == expected)
  }

  @Test("what was held back goes by itself when nothing follows")
  func heldAlone() throws {
    let pair = try pair()
    #expect(pair.server.send("head", more: true) == .bytes(4))
    #expect(pair.server.stream.bytesKept > 0)
    wait(pair.loop) { pair.client.text == "head" }
    #expect(pair.server.stream.bytesKept == 0)
  }

  @Test("a peer that does not read: bounded, blocked, counted, and writable once all that was kept has gone")
  func blocked() throws {
    let pair = try pair()
    pair.client.stream.stopReading()
    let block = pattern(64 << 10)
    var sent = 0
    func fill() {
      while case .bytes(let count) = block.withUnsafeBytes({ pair.server.stream.write($0, more: false) }) {
        sent += count
      }
    }
    fill()
    let kept = pair.server.stream.bytesKept
    #expect(kept > 0 && kept <= TLSEngine.pendingLimit)
    #expect(pair.server.stream.bytesUnsent() >= kept)
    pair.server.stream.wantWritable()
    var keptWhenTold = -1
    pair.server.onWritable = { keptWhenTold = pair.server.stream.bytesKept }
    var isThrough = false
    pair.loop.nextTurn { isThrough = true }
    wait(pair.loop) { isThrough }
    #expect(pair.server.writableCount == 0)
    pair.client.stream.startReading()
    wait(pair.loop) { pair.client.received.count == sent }
    wait(pair.loop) { pair.server.writableCount == 1 }
    #expect(keptWhenTold == 0)
    pair.server.onWritable = nil
  }

  @Test("what is kept goes although nobody asks for writability")
  func goesByItself() throws {
    let pair = try pair()
    pair.client.stream.stopReading()
    let block = pattern(64 << 10)
    var sent = 0
    while case .bytes(let count) = block.withUnsafeBytes({ pair.server.stream.write($0, more: false) }) {
      sent += count
    }
    pair.client.stream.startReading()
    wait(pair.loop) { pair.client.received.count == sent && pair.server.stream.bytesKept == 0 }
    #expect(pair.server.writableCount == 0)
  }

  @Test("half-close: close_notify ends one direction, the other goes on")
  func halfCloses() throws {
    let pair = try pair()
    #expect(pair.client.send("request") == .bytes(7))
    pair.client.stream.shutdownWrite()
    wait(pair.loop) { pair.server.sawEnd }
    #expect(pair.server.text == "request")
    #expect(!pair.server.stream.isReading)
    #expect(pair.server.send("answer") == .bytes(6))
    wait(pair.loop) { pair.client.text == "answer" }
    #expect(!pair.client.sawEnd)
    #expect(pair.client.send("more") == .failed(EPIPE))
    pair.server.stream.shutdownWrite()
    wait(pair.loop) { pair.client.sawEnd }
    pair.client.sawEnd = false
    pair.client.stream.startReading()
    wait(pair.loop) { pair.client.sawEnd }
  }

  @Test("a connection that ends without close_notify has failed")
  func truncates() throws {
    let pair = try pair()
    #expect(pair.server.send("part") == .bytes(4))
    shutdown(pair.server.stream.rawDescriptor, CInt(SHUT_WR))
    wait(pair.loop) { pair.client.failure != nil }
    #expect(pair.client.text == "part" && !pair.client.sawEnd)
    #expect(pair.client.failure == ECONNRESET)
  }

  @Test("bytes that are here already are told when reading starts, and again while some are left")
  func tellsPending() throws {
    let pair = try SecurePair(TestTLS.server(), TestTLS.client())
    pair.server.readsAfterHandshake = false
    pair.shake()
    #expect(pair.client.send("behind the last flight") == .bytes(22))
    var bytes = [UInt8](repeating: 0, count: 6)
    var result = IOResult.wouldBlock
    while result == .wouldBlock { result = bytes.withUnsafeMutableBytes { pair.server.stream.read(into: $0) } }
    #expect(result == .bytes(6))
    #expect(pair.server.readableCount == 0)
    pair.server.stream.startReading()
    wait(pair.loop) { pair.server.text == " the last flight" }
    #expect(pair.server.readableCount == 1)
  }

  @Test("pausing stops what was about to be told")
  func pauses() throws {
    let pair = try SecurePair(TestTLS.server(), TestTLS.client())
    pair.server.readsAfterHandshake = false
    pair.shake()
    #expect(pair.client.send("later") == .bytes(5))
    var byte: [UInt8] = [0]
    var result = IOResult.wouldBlock
    while result == .wouldBlock { result = byte.withUnsafeMutableBytes { pair.server.stream.read(into: $0) } }
    pair.server.stream.startReading()
    pair.server.stream.stopReading()
    var isThrough = false
    pair.loop.nextTurn { pair.loop.nextTurn { isThrough = true } }
    wait(pair.loop) { isThrough }
    #expect(pair.server.readableCount == 0)
    pair.server.stream.startReading()
    wait(pair.loop) { pair.server.text == "ater" }
  }

  @Test("session tickets are nothing to tell, and no noise")
  func tickets() throws {
    let pair = try pair()
    var isThrough = false
    pair.loop.nextTurn { pair.loop.nextTurn { isThrough = true } }
    wait(pair.loop) { isThrough }
    #expect(pair.client.readableCount == 0)
    var byte: [UInt8] = [0]
    #expect(byte.withUnsafeMutableBytes { pair.client.stream.read(into: $0) } == .wouldBlock)
    #expect(pair.server.send("x") == .bytes(1))
    wait(pair.loop) { pair.client.text == "x" }
  }

  @Test("writing to a peer that has gone fails; what it sent before is still read")
  func brokenPipe() throws {
    let pair = try pair()
    pair.server.stream.stopReading()
    #expect(pair.client.send("last words") == .bytes(10))
    pair.client.stream.close()
    var result = IOResult.bytes(0)
    while case .bytes = result { result = pair.server.send("x") }
    #expect(result == .failed(EPIPE))
    pair.server.stream.startReading()
    wait(pair.loop) { pair.server.sawEnd || pair.server.failure != nil }
    #expect(pair.server.text == "last words")
  }

  @Test("a failed handshake sends its alert before the end, and says why on both sides")
  func failsVisibly() throws {
    let alone = TestTLS.certificates.make(names: ["a.example"])
    let pair = try SecurePair(TestTLS.server([alone]), TestTLS.client()).shake()
    #expect(pair.client.hasFailed == TLSFailure(.certificate, "self-signed certificate (CN=a.example)"))
    #expect(pair.server.hasFailed?.kind == .alert(48))
    #expect(!pair.server.stream.isReading && !pair.client.stream.isReading)
    pair.server.stream.close()
    pair.client.stream.close()
  }

  @Test("the peer leaves in the middle of the handshake")
  func leaves() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let server = SecurePeer(a, loop, try TestTLS.server().makeEngine())
    server.shake()
    close(b)
    wait(loop) { server.outcome != nil }
    #expect(server.hasFailed?.kind == .protocolError)
    #expect(server.stream.tls == nil)
  }

  @Test("closed within its own callback, it leaves nothing behind")
  func closesInCallback() throws {
    final class Owner { var peer: SecurePeer? }
    let pair = try pair()
    weak let stream = pair.server.stream
    #expect(stream != nil)
    pair.client.stream.wantWritable()
    pair.client.onWritable = { [unowned client = pair.client] in client.stream.close() }
    wait(pair.loop) { pair.client.stream.isClosed }
    wait(pair.loop) { pair.server.sawEnd }
    #expect(pair.client.send("x") == .failed(EBADF))
    #expect(pair.client.stream.tls == nil && pair.client.stream.bytesKept == 0)
    pair.client.onWritable = nil
  }

  private func temporaryFile(_ content: [UInt8]) throws -> OwnedDescriptor {
    let file = OwnedDescriptor(adopting: pawl_open("/tmp", O_RDWR | CInt(bitPattern: 0o20200000), 0o600))
    try #require(file.raw >= 0)
    try #require(write(file.raw, content, content.count) == content.count)
    return file
  }

  @Test("each stage of a protected stream goes where the table says")
  func stages() {
    typealias Stage = StreamProtection.Stage
    // Reading for the handshake began; the handshake ended, and whether that reading ends; the owner ends, and whether that is
    // news; all has gone, and whether FIN follows.
    let table: [(Stage, began: Stage, shaken: (Stage, Bool), ends: (Stage, Bool), flushed: (Stage, Bool))] = [
      (.open, .readingForHandshake, (.open, false), (.ending, true), (.open, false)),
      (.readingForHandshake, .readingForHandshake, (.open, true), (.ending, true), (.readingForHandshake, false)),
      (.ending, .ending, (.ending, false), (.ending, false), (.ended, true)),
      (.ended, .ended, (.ended, false), (.ended, false), (.ended, false)),
    ]
    #expect(table.map(\.0) == Stage.allCases)
    for (stage, began, shaken, ends, flushed) in table {
      var (first, second, third, fourth) = (stage, stage, stage, stage)
      first.readingBegan()
      #expect(first == began)
      #expect(second.handshakeEnded() == shaken.1 && second == shaken.0)
      #expect(third.ends() == ends.1 && third == ends.0)
      #expect(fourth.flushed() == flushed.1 && fourth == flushed.0)
    }
  }
}
