import CLinux
import PawlCache
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlStore

private final class Token {}

@Suite("Stored body") struct StoredBodyTests {
  @Test("any ranges in any order come together; what is held is not overwritten")
  func assembles() throws {
    let fixture = try StoreFixture()
    let bytes = pattern(3_000_000)
    let body = try fixture.body(total: 3_000_000)
    fixture.store.publish(
      StoredResponse(head: fixture.head(), body: body, storedAt: 0), in: try fixture.resource("/a"))
    let pieces = [
      1_000_000..<1_100_000, 0..<10, 1_048_000..<1_049_000, 5..<1_000_001, 2_999_999..<3_000_000, 1_090_000..<3_000_000,
    ]
    for piece in pieces {
      var content = Array(bytes[piece])
      // What comes a second time is other bytes: they must not get in.
      for index in content.indices
      where body.held.contains(UInt64(piece.lowerBound + index)..<UInt64(piece.lowerBound + index + 1)) {
        content[index] ^= 0xff
      }
      try body.write(content, at: UInt64(piece.lowerBound))
    }
    #expect(body.held == HeldBytes([0..<3_000_000]))
    #expect(try fixture.readAll(body) == bytes)
    #expect(body.complete())
    fixture.store.flush()
    let copy = try StoreFixture(in: try fixture.directory.copy())
    let again = try #require(try copy.first("/a")).body
    #expect(try copy.readAll(again) == bytes)
    #expect(copy.logged("body-mended").isEmpty)
  }

  @Test("complete() needs every byte")
  func completes() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 10)
    try body.write(pattern(9), at: 1)
    #expect(!body.complete())
    #expect(!body.isComplete)
    try body.write([1], at: 0)
    #expect(body.complete())
    #expect(body.availability(at: 10) == .ended)
    let unknown = try fixture.body()
    #expect(unknown.total == nil)
    try unknown.write(pattern(9))
    #expect(unknown.availability(at: 9) == .missing)
    #expect(unknown.complete())
    #expect(unknown.total == 9)
    #expect(unknown.availability(at: 9) == .ended)
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("bytes up to the total, and none beyond")
  func beyondTotal() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 10)
    #expect(throws: StoreError.beyondTotal) { try body.write(pattern(11)) }
    #expect(throws: StoreError.beyondTotal) { try body.write([1], at: 10) }
    try body.write(pattern(10))
    body.setTotal(12)
    #expect(body.total == 10)
  }

  @Test("a reader waits for its own position, is told once, and hears of end and failure")
  func waits() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    let (a, b) = (Token(), Token())
    var calls: [String] = []
    func turn() throws { let _: Int = try fixture.result { done in fixture.loop.nextTurn { done(0) } } }
    func settle() throws { for _ in 0..<5 { try turn() } }
    body.wait(at: 0, token: ObjectIdentifier(a), on: fixture.loop) { calls.append("a0") }
    body.wait(at: 50, token: ObjectIdentifier(b), on: fixture.loop) { calls.append("b50") }
    try settle()
    #expect(calls == [])
    try body.write(pattern(10))
    try settle()
    #expect(calls == ["a0"])
    try body.write(pattern(10), at: 10)
    try settle()
    #expect(calls == ["a0"])
    body.wait(at: 0, token: ObjectIdentifier(a), on: fixture.loop) { calls.append("already") }
    try settle()
    #expect(calls == ["a0", "already"])
    body.wait(at: 20, token: ObjectIdentifier(a), on: fixture.loop) { calls.append("cancelled") }
    body.cancelWait(token: ObjectIdentifier(a))
    body.wait(at: 20, token: ObjectIdentifier(a), on: fixture.loop) { calls.append("failed") }
    body.fail(.changed("tag"))
    try settle()
    #expect(calls == ["a0", "already", "failed", "b50"] || calls == ["a0", "already", "b50", "failed"])
    #expect(body.availability(at: 0) == .failed(.changed("tag")))
    #expect(throws: StoreError.dropped) { try body.write([1], at: 30) }
  }

  @Test("a wait cancelled by another's callback does not fire")
  func cancelsWithinBatch() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    let tokens = (0..<10).map { _ in Token() }
    var calls = 0
    for token in tokens {
      body.wait(at: 0, token: ObjectIdentifier(token), on: fixture.loop) {
        calls += 1
        for other in tokens { body.cancelWait(token: ObjectIdentifier(other)) }
      }
    }
    try body.write([1])
    for _ in 0..<5 { let _: Int = try fixture.result { done in fixture.loop.nextTurn { done(0) } } }
    #expect(calls == 1)
  }

  @Test("readers on many loops follow one writer, each byte right")
  func follows() throws {
    let fixture = try StoreFixture()
    let bytes = pattern(4_000_000)
    let body = try fixture.body(total: UInt64(bytes.count))
    let results = Locked([[UInt8]]())
    let loops = try (1...3).map { try EventLoop.startThread(index: $0) }
    for index in 0..<12 {
      let loop = loops[index % 3].loop
      loop.run { Follower(body, loop) { bytes in results.withLock { $0.append(bytes) } }.go() }
    }
    var position = 0
    while position < bytes.count {
      let end = min(bytes.count, position + 70_001)
      try body.write(Array(bytes[position..<end]), at: UInt64(position))
      position = end
    }
    #expect(body.complete())
    while results.withLock({ $0.count }) < 12 { usleep(1000) }
    #expect(results.withLock { $0.allSatisfy { $0 == bytes } })
    for (loop, thread) in loops {
      loop.stop()
      thread.join()
    }
  }

  @Test("readers are counted, slowest and fastest known")
  func readers() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    let (a, b) = (Token(), Token())
    #expect(body.readers == .init(count: 0, slowest: nil, fastest: nil))
    body.readerMoved(token: ObjectIdentifier(a), position: 5)
    body.readerMoved(token: ObjectIdentifier(b), position: 50)
    body.readerMoved(token: ObjectIdentifier(a), position: 10)
    #expect(body.readers == .init(count: 2, slowest: 10, fastest: 50))
    body.readerLeft(token: ObjectIdentifier(b))
    #expect(body.readers == .init(count: 1, slowest: 10, fastest: 10))
  }

  @Test("read() gives verified bytes only")
  func reads() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    try body.write(pattern(60))
    var buffer = [UInt8](repeating: 0, count: 100)
    #expect(buffer.withUnsafeMutableBytes { body.read(0..<100, into: $0) } == 60)
    #expect(Array(buffer[..<60]) == pattern(60))
    #expect(buffer.withUnsafeMutableBytes { body.read(60..<100, into: $0) } == 0)
  }

  @Test("beyond the disk the window takes over, at the pace of the slowest reader")
  func streams() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body()
    body.addTag(TagRecord(tag: [1]))
    let (slow, fast) = (Token(), Token())
    body.readerMoved(token: ObjectIdentifier(slow), position: 0)
    body.readerMoved(token: ObjectIdentifier(fast), position: 0)
    try body.write(pattern(1000))
    body.beginStreaming()
    #expect(body.tagLimit([1]) == 1000)
    try body.write(pattern(MemoryWindow.capacity - 1), at: 1000)
    #expect(!body.windowIsFull)
    try body.write([7], at: 1000 + UInt64(MemoryWindow.capacity) - 1)
    #expect(body.windowIsFull)
    #expect(body.availability(at: 0) == .bytes(until: 1000))
    let end = 1000 + UInt64(MemoryWindow.capacity)
    #expect(body.availability(at: 1000) == .bytes(until: end))
    #expect(body.windowBytes(at: 1000, limit: 10) == Array(pattern(10)))
    #expect(body.windowBytes(at: 999, limit: 10) == nil)
    body.readerMoved(token: ObjectIdentifier(fast), position: end)
    #expect(body.windowIsFull)
    body.readerMoved(token: ObjectIdentifier(slow), position: 2000)
    #expect(!body.windowIsFull)
    #expect(body.availability(at: 1999) == .failed(.notKept))
    #expect(body.availability(at: end) == .missing)
    #expect(throws: StoreError.full) { try body.write([1], at: end + 1) }
    body.complete()
    #expect(!body.isComplete)
    #expect(body.availability(at: end) == .ended)
    #expect(body.held.count == 1000)
  }

  @Test("a body that fails is gone for everyone who comes later")
  func fails() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(100), total: 200)
    let path = fixture.path(of: response.body)
    response.body.fail(.origin("connection_terminated"))
    try fixture.settle()
    #expect(fixture.store.resource(for: fixture.key("/a"), create: false) == nil)
    #expect(access(path, F_OK) != 0)
    #expect(try !fixture.store.core.reader.contains(response.id))
  }

  @Test("a body that was never published leaves nothing behind")
  func unpublished() throws {
    let fixture = try StoreFixture()
    var path = ""
    do {
      let body = try fixture.body(total: 100)
      try body.write(pattern(50))
      path = fixture.path(of: body)
      #expect(access(path, F_OK) == 0)
    }
    try fixture.settle()
    #expect(access(path, F_OK) != 0)
    #expect(fixture.store.usedBytes == 0)
    #expect(fixture.store.reservedBytes == 0)
  }
}

/// Reads a growing body to its end, as a client connection does.
private final class Follower {
  private let body: StoredBody
  private let loop: EventLoop
  private let done: ([UInt8]) -> Void
  private var bytes: [UInt8] = []

  init(_ body: StoredBody, _ loop: EventLoop, _ done: @escaping ([UInt8]) -> Void) {
    (self.body, self.loop, self.done) = (body, loop, done)
  }

  func go() {
    let position = UInt64(bytes.count)
    switch body.availability(at: position) {
    case .bytes(let end):
      var piece = [UInt8](repeating: 0, count: Int(end - position))
      let slice = body.slice(position..<end)
      pread(slice.fd, &piece, piece.count, off_t(position))
      bytes += piece
      body.readerMoved(token: ObjectIdentifier(self), position: end)
      loop.nextTurn { self.go() }
    case .missing: body.wait(at: position, token: ObjectIdentifier(self), on: loop) { self.go() }
    case .checking: body.check(at: position, on: loop) { _ in self.go() }
    case .ended, .failed:
      body.readerLeft(token: ObjectIdentifier(self))
      done(bytes)
    }
  }
}
