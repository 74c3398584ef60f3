import CLinux
import Testing

@testable import PawlLoop

@Suite("Shares of a turn", .timeLimit(.minutes(1))) struct TurnShareTests {
  private func share(after turns: [Int], parts: Int = TurnShare.leastPart) -> Int {
    var share = TurnShare()
    for ready in turns {
      share.turnBegins()
      for _ in 0..<ready { share.noteReady() }
    }
    return share.bytes(of: 1 << 20, parts: parts)
  }

  @Test(
    "all of it alone, a part beside others, never less than an eighth",
    arguments: [
      ([], 1 << 20), ([0], 1 << 20), ([1], 1 << 20), ([2], 1 << 19), ([5], (1 << 20) / 5), ([7], (1 << 20) / 7),
      ([8], 1 << 17), ([9], 1 << 17), ([1000], 1 << 17),
    ])
  func divides(turns: [Int], bytes: Int) { #expect(share(after: turns) == bytes) }

  @Test(
    "where more is moved alone, a crowd cuts it into more parts",
    arguments: [(1, 1), (8, 8), (31, 31), (32, 32), (33, 32)])
  func parts(ready: Int, part: Int) { #expect(share(after: [ready], parts: 32) == (1 << 20) / part) }

  @Test("others count when they were ready in a turn before, too")
  func remembers() {
    #expect(share(after: [8, 1]) == 1 << 17)
    #expect(share(after: [64] + Array(repeating: 1, count: 10)) == 1 << 17)
    #expect(share(after: [2, 0]) == 1 << 19)
  }

  @Test("who was ready long ago is forgotten", arguments: [2, 8, 64, 10_000])
  func forgets(crowd: Int) {
    let turns = Array(repeating: 1, count: 80)
    #expect(share(after: [crowd] + turns) == 1 << 20)
  }

  @Test("a loop counts the sockets that are ready, those that can be read and those that can be written")
  func counts() throws {
    let loop = try EventLoop(index: 0)
    var shares: [Int] = []
    var peers: [Peer] = []
    var others: [CInt] = []
    defer { for other in others { close(other) } }
    for index in 0..<4 {
      let (mine, other) = try socketPair()
      let peer = Peer(mine, loop)
      others.append(other)
      peer.onReadable = {
        peer.readOnce()
        shares.append(loop.turnShare(of: 840))
      }
      peer.onWritable = { shares.append(loop.turnShare(of: 840)) }
      peer.stream.startReading()
      if index < 2 { try #require(write(other, "x", 1) == 1) } else { peer.stream.wantWritable() }
      peers.append(peer)
    }
    wait(loop) { shares.count == 4 }
    #expect(shares == [840, 420, 280, 210])
    withExtendedLifetime(peers) {}
  }
}
