import CLinux
import Testing

@testable import PawlLoop

@Suite("Socket stream", .timeLimit(.minutes(1))) struct SocketStreamTests {
  @Test("carries bytes both ways, in one piece and in two")
  func carriesBytes() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    right.stream.startReading()
    left.stream.startReading()
    #expect(left.send("hello ", more: true) == .bytes(6))
    let pieces = (Array("two ".utf8), Array("pieces".utf8))
    let written = pieces.0.withUnsafeBytes { first in
      pieces.1.withUnsafeBytes { left.stream.write(first, $0, more: false) }
    }
    #expect(written == .bytes(10))
    wait(loop) { right.text == "hello two pieces" }
    #expect(right.send("back") == .bytes(4))
    wait(loop) { left.text == "back" }
  }

  @Test("writing or reading nothing is no end and no error")
  func takesEmptyBuffers() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    #expect(left.stream.write(nothing, more: false) == .bytes(0))
    #expect(left.stream.write(nothing, nothing, more: false) == .bytes(0))
    #expect(left.stream.sendFile(0, offset: 0, count: 0) == .bytes(0))
    #expect(right.stream.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == .bytes(0))
    loop.withReadBuffer { #expect(right.stream.read(into: $0) == .wouldBlock) }
  }

  @Test("a full socket would block, and is writable once after its peer has read")
  func tellsWhenWritable() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    let block = [UInt8](repeating: 7, count: 64 << 10)
    var sent = 0
    func fill() {
      while case .bytes(let count) = block.withUnsafeBytes({ left.stream.write($0, more: false) }) { sent += count }
    }
    fill()
    #expect(block.withUnsafeBytes { left.stream.write($0, more: false) } == .wouldBlock)
    #expect(left.stream.bytesUnsent() > 0)
    left.stream.wantWritable()
    var isThrough = false
    loop.nextTurn { isThrough = true }
    wait(loop) { isThrough }
    #expect(left.writableCount == 0)
    right.stream.startReading()
    wait(loop) { right.received.count == sent }
    wait(loop) { left.writableCount == 1 }
    isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
    #expect(left.writableCount == 1)
    left.onWritable = { if left.writableCount < 5 { left.stream.wantWritable() } }
    left.stream.wantWritable()
    wait(loop) { left.writableCount == 5 }
    left.onWritable = nil
  }

  @Test("the peer's half-close is an end once; writing goes on")
  func halfCloses() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    right.stream.startReading()
    left.stream.startReading()
    #expect(left.send("request") == .bytes(7))
    left.stream.shutdownWrite()
    wait(loop) { right.sawEnd }
    #expect(right.text == "request")
    #expect(!right.stream.isReading)
    #expect(right.send("answer") == .bytes(6))
    wait(loop) { left.text == "answer" }
    #expect(!left.sawEnd)
    #expect(left.send("more") == .failed(EPIPE))
    right.stream.close()
    wait(loop) { left.sawEnd }
  }

  @Test("writing to a peer that has gone fails and raises no signal, sendfile included")
  func survivesBrokenPipe() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let left = Peer(a, loop)
    close(b)
    #expect(left.send("x") == .failed(EPIPE))
    let file = try temporaryFile(Array("content".utf8))
    #expect(left.stream.sendFile(file.raw, offset: 0, count: 7) == .failed(EPIPE))
  }

  @Test("sends a slice of a file, and says where the file ends")
  func sendsFiles() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    let file = try temporaryFile(Array("0123456789".utf8))
    right.stream.startReading()
    #expect(left.stream.sendFile(file.raw, offset: 3, count: 4) == .bytes(4))
    #expect(left.stream.sendFile(file.raw, offset: 8, count: 100) == .bytes(2))
    #expect(left.stream.sendFile(file.raw, offset: 10, count: 1) == .end)
    #expect(left.stream.sendFile(file.raw, offset: .max, count: 1) == .end)
    wait(loop) { right.text == "345689" }
  }

  @Test("stops and goes on reading")
  func pausesReading() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (left, right) = (Peer(a, loop), Peer(b, loop))
    right.stream.startReading()
    right.stream.startReading()
    right.stream.stopReading()
    right.stream.stopReading()
    #expect(left.send("later") == .bytes(5))
    var isThrough = false
    loop.nextTurn { loop.nextTurn { isThrough = true } }
    wait(loop) { isThrough }
    #expect(right.text == "")
    right.stream.startReading()
    wait(loop) { right.text == "later" }
  }

  @Test("closed and let go of within its own callbacks, it leaves nothing behind", arguments: [false, true])
  func closesInCallback(_ inWritable: Bool) throws {
    final class Owner { var peer: Peer? }
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let other = Peer(a, loop)
    let owner = Owner()
    owner.peer = Peer(b, loop)
    weak let stream = owner.peer?.stream
    let end = { [unowned owner] in
      owner.peer?.stream.close()
      owner.peer = nil
    }
    if inWritable { owner.peer?.onWritable = end } else { owner.peer?.onReadable = end }
    // Both events are active in the same turn: the second must not be delivered.
    #expect(other.send("x") == .bytes(1))
    owner.peer?.stream.startReading()
    owner.peer?.stream.wantWritable()
    wait(loop) { owner.peer == nil }
    #expect(stream == nil)
    other.stream.startReading()
    wait(loop) { other.sawEnd || other.failure != nil }
  }

  @Test("a stream that another's callback closed in the same turn hears nothing more")
  func closesAnother() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let (c, d) = try socketPair()
    let (one, two) = (Peer(a, loop), Peer(c, loop))
    let (farOne, farTwo) = (Peer(b, loop), Peer(d, loop))
    var heard = 0
    one.onReadable = {
      heard += 1
      two.stream.close()
      one.stream.close()
    }
    two.onReadable = {
      heard += 1
      one.stream.close()
      two.stream.close()
    }
    one.stream.startReading()
    two.stream.startReading()
    #expect(farOne.send("x") == .bytes(1))
    #expect(farTwo.send("x") == .bytes(1))
    wait(loop) { one.stream.isClosed && two.stream.isClosed }
    (one.onReadable, two.onReadable) = (nil, nil)
    #expect(heard == 1)
  }

  @Test("closed twice, or used after that, it fails and harms no other descriptor")
  func isInertWhenClosed() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let left = Peer(a, loop)
    left.stream.close()
    left.stream.close()
    left.stream.reset()
    left.stream.shutdownWrite()
    left.stream.startReading()
    left.stream.wantWritable()
    left.stream.stopReading()
    #expect(left.stream.isClosed && !left.stream.isReading)
    #expect(left.send("x") == .failed(EBADF))
    #expect(left.stream.sendFile(0, offset: 0, count: 1) == .failed(EBADF))
    loop.withReadBuffer { #expect(left.stream.read(into: $0) == .failed(EBADF)) }
    #expect(left.stream.bytesUnsent() == 0)
    #expect(left.stream.peer == nil && left.stream.local == nil)
    close(b)
  }

  @Test("keeps a delegate that asks for it until it is closed, any other not at all")
  func keepsDelegate() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    let stream = SocketStream(adopting: a, loop: loop)
    func lend(_ keeps: Bool) -> () -> Peer? {
      let peer = Peer(stream)
      if keeps { stream.keep(peer) }
      weak let lent = peer
      return { lent }
    }
    #expect(lend(false)() == nil)
    #expect(stream.delegate == nil)
    let kept = lend(true)
    #expect(kept() != nil && stream.delegate === kept())
    stream.close()
    #expect(kept() == nil)
    #expect(lend(true)() == nil)
    close(b)
  }

  @Test("adopts a blocking socket as a non-blocking one, and closes it when let go of")
  func adopts() throws {
    let loop = try EventLoop(index: 0)
    let (a, b) = try socketPair()
    do {
      let stream = SocketStream(adopting: a, loop: loop)
      #expect(pawl_fcntl(a, F_GETFL, 0) & O_NONBLOCK != 0)
      stream.startReading()
    }
    var byte: UInt8 = 0
    #expect(recv(b, &byte, 1, 0) == 0)
    close(b)
  }

  @Test("over TCP: no delay, both addresses, and a reset that the peer sees")
  func speaksTCP() throws {
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: try #require(.parse("127.0.0.1:0")), loop: loop)
    var accepted: Peer?
    listener.onAccept = { fd, peer in accepted = Peer(SocketStream(adopting: fd, loop: loop, peer: peer)) }
    try listener.start()
    var client: Peer?
    Connector.connect(to: listener.boundAddress, loop: loop, timeout: .seconds(30)) { result in
      if case .success(let stream) = result { client = Peer(stream) }
    }
    wait(loop) { accepted != nil && client != nil }
    let (left, right) = (try #require(client), try #require(accepted))
    #expect(socketOption(left.stream.rawDescriptor, CInt(IPPROTO_TCP), TCP_NODELAY) != 0)
    #expect(socketOption(right.stream.rawDescriptor, CInt(IPPROTO_TCP), TCP_NODELAY) != 0)
    #expect(left.stream.peer == listener.boundAddress)
    #expect(right.stream.local == listener.boundAddress)
    #expect(right.stream.peer == left.stream.local)
    right.stream.reset()
    left.stream.startReading()
    wait(loop) { left.failure != nil }
    #expect(left.failure == ECONNRESET)
  }

  @Test("an answer that is awaited is read before what others have sent, once", arguments: [false, true])
  func readsAnswersFirst(_ isExpected: Bool) throws {
    let loop = try EventLoop(index: 0)
    var (order, peers, ends): ([Int], [Peer], [CInt]) = ([], [], [])
    defer { for end in ends { close(end) } }
    for index in 0..<3 {
      let (near, far) = try socketPair()
      let peer = Peer(near, loop)
      peer.onReadable = { [unowned peer] in
        order.append(index)
        peer.readOnce()
      }
      peer.stream.startReading()
      (peers, ends) = (peers + [peer], ends + [far])
    }
    if isExpected { peers[2].stream.awaitResponse() }
    for round in 1...2 {
      for end in ends { #expect(write(end, "x", 1) == 1) }
      wait(loop) { order.count == 3 * round }
    }
    #expect(order == (isExpected ? [2, 0, 1] : [0, 1, 2]) + [0, 1, 2])
  }

  @Test("a turn serves 16 sockets while an answer is awaited, and the rest in the next", arguments: [0, 1, 2])
  func shortensTurns(_ awaited: Int) throws {
    let loop = try EventLoop(index: 0)
    var (turns, served, peers, ends): ([Int], Set<Int>, [Peer], [CInt]) = ([], [], [], [])
    defer { for end in ends { close(end) } }
    for index in 0..<41 {
      let (near, far) = try socketPair()
      let peer = Peer(near, loop)
      peer.onReadable = { [unowned peer] in
        served.insert(index)
        peer.readOnce()
      }
      peer.stream.startReading()
      (peers, ends) = (peers + [peer], ends + [far])
    }
    if awaited > 0 { peers[40].stream.awaitResponse() }
    // Closed before it comes, it is awaited no more.
    if awaited == 2 { peers[40].stream.close() }
    for end in ends[..<40] { #expect(write(end, "x", 1) == 1) }
    loop.turn {
      turns.append(served.count)
      return served.count < 40
    }
    if awaited == 1 { #expect(turns == [0, 16, 32, 40]) } else { #expect(turns[1] > 16) }
  }

  private func temporaryFile(_ content: [UInt8]) throws -> OwnedDescriptor {
    let file = OwnedDescriptor(adopting: pawl_open("/tmp", O_RDWR | CInt(bitPattern: 0o20200000), 0o600))
    try #require(file.raw >= 0)
    try #require(write(file.raw, content, content.count) == content.count)
    return file
  }
}
