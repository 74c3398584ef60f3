import CLinux
import PawlBase
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import PawlTestKit
import Testing

@testable import PawlCacheStore

private final class Token {}

@Suite("Readers that wait") struct StoredBodyWaitTests {
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

  @Test("of thousands of readers that can go on, a limited number does so in each turn of the loop; none is forgotten")
  func manyReaders() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body(total: 100)
    let count = StoredBody.mostAtOnce * 3 + 1
    let tokens = (0..<count).map { _ in Token() }
    var calls: [Int] = []
    for (number, token) in tokens.enumerated() {
      body.wait(at: 0, token: ObjectIdentifier(token), on: fixture.loop) { calls.append(number) }
    }
    func turn() throws { let _: Int = try fixture.result { done in fixture.loop.nextTurn { done(0) } } }
    try body.write([1])
    var most = 0
    for _ in 0..<20 where calls.count < count {
      let before = calls.count
      try turn()
      most = max(most, calls.count - before)
    }
    #expect(calls.sorted() == Array(0..<count))
    // Two turns may be one for `turn`.
    #expect(most <= 2 * StoredBody.mostAtOnce)
  }

  @Test("readers on many loops follow one writer, each byte right")
  func follows() throws {
    let fixture = try StoreFixture()
    let bytes = pattern(4_000_000)
    let body = try fixture.body(total: UInt64(bytes.count))
    let results = Locked([[UInt8]]())
    let allHaveRead = Gate()
    let loops = try (1...3).map { try EventLoop.startThread(index: $0) }
    for index in 0..<12 {
      let loop = loops[index % 3].loop
      loop.run {
        Follower(body, loop) { bytes in
          let isLast = results.withLock { results in
            results.append(bytes)
            return results.count == 12
          }
          if isLast { allHaveRead.open() }
        }.go()
      }
    }
    var position = 0
    while position < bytes.count {
      let end = min(bytes.count, position + 70_001)
      try body.write(Array(bytes[position..<end]), at: UInt64(position))
      position = end
    }
    #expect(body.complete())
    #expect(allHaveRead.wait())
    #expect(results.withLock { $0.allSatisfy { $0 == bytes } })
    for (loop, thread) in loops {
      loop.stop()
      thread.join()
    }
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
