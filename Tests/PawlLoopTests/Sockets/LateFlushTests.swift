import CLinux
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlLoop

@Suite("A protected stream that is closed before its peer has all", .timeLimit(.minutes(1))) struct LateFlushTests {
  private func pair() throws -> SecurePair {
    let pair = try SecurePair(TestTLS.server(), TestTLS.client()).shake()
    try #require(pair.server.isDone && pair.client.isDone)
    return pair
  }

  @Test("ended and closed at once while much waits: all of it arrives, and the end", arguments: [false, true])
  func closesLate(_ ends: Bool) throws {
    let pair = try pair()
    pair.client.stream.stopReading()
    let block = [UInt8](repeating: 120, count: 64 << 10)
    var sent = 0
    while case .bytes(let count) = block.withUnsafeBytes({ pair.server.stream.write($0, more: false) }) {
      sent += count
    }
    #expect(pair.server.stream.bytesKept > 0)
    if ends { pair.server.stream.shutdownWrite() }
    pair.server.stream.close()
    #expect(pair.server.stream.isClosed)
    pair.client.stream.startReading()
    wait(pair.loop) { pair.client.sawEnd || pair.client.failure != nil }
    #expect(pair.client.sawEnd && pair.client.failure == nil)
    #expect(pair.client.received.count == sent)
  }

  @Test("closed while a peer that never reads is owed something: dropped after a bounded time")
  func dropsLate() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let pair = try SecurePair(TestTLS.server(), TestTLS.client(), loop: loop).shake()
    pair.client.stream.stopReading()
    let block = [UInt8](repeating: 120, count: 64 << 10)
    while case .bytes = block.withUnsafeBytes({ pair.server.stream.write($0, more: false) }) {}
    pair.server.stream.close()
    #expect(!isHungUp(pair.client.stream.rawDescriptor))
    clock.advance(by: LateFlush.patience)
    wait(loop) { isHungUp(pair.client.stream.rawDescriptor) }
  }

  /// Sends a record that is none.
  private func breakRules(_ pair: SecurePair) throws {
    let garbage: [UInt8] = [23, 3, 3, 0, 32] + Array(repeating: 7, count: 32)
    try #require(write(pair.client.stream.rawDescriptor, garbage, garbage.count) == garbage.count)
    wait(pair.loop) { pair.server.failure != nil }
    #expect(pair.server.failure == EPROTO)
    #expect(pair.server.stream.tlsFailure?.kind == .protocolError)
  }

  @Test("a broken record: the alert and the end reach the peer, whatever else it has sent")
  func alerts() throws {
    let pair = try pair()
    pair.client.stream.stopReading()
    try breakRules(pair)
    // Unread in the kernel when the server closes.
    try #require(write(pair.client.stream.rawDescriptor, [7, 7, 7], 3) == 3)
    let descriptor = pair.server.stream.rawDescriptor
    pair.server.stream.close()
    #expect(pair.server.stream.isClosed && isOpen(descriptor))
    pair.client.stream.startReading()
    wait(pair.loop) { pair.client.failure != nil }
    #expect(pair.client.stream.tlsFailure?.kind == .alert(20))
  }

  @Test("behind an alert a peer that neither ends nor stops is borne for a bounded time and amount")
  func alertsBounded() throws {
    let clock = ManualClock()
    let loop = try EventLoop(index: 0, clock: clock)
    let silent = try SecurePair(TestTLS.server(), TestTLS.client(), loop: loop).shake()
    try breakRules(silent)
    silent.server.stream.close()
    #expect(!isHungUp(silent.client.stream.rawDescriptor))
    clock.advance(by: LateFlush.lingerTime)
    wait(loop) { isHungUp(silent.client.stream.rawDescriptor) }
    let loud = try SecurePair(TestTLS.server(), TestTLS.client(), loop: loop).shake()
    try breakRules(loud)
    loud.server.stream.close()
    let client = loud.client.stream.rawDescriptor
    let block = [UInt8](repeating: 7, count: 16 << 10)
    for end in [LateFlush.lingerBytes - 1, LateFlush.lingerBytes] {
      var sent = end < LateFlush.lingerBytes ? 0 : end - 1
      wait(loop) {
        let count = send(client, block, min(block.count, end - sent), pawl_MSG_NOSIGNAL)
        sent += max(0, count)
        return sent == end || isHungUp(client)
      }
      #expect(sent == end)
    }
    wait(loop) { isHungUp(client) }
  }
}
