import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

private final class Token {}

@Suite("Stored body") struct StoredBodyTests {
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
    #expect(body.beginStreaming())
    #expect(!body.beginStreaming())
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

  @Test("what is missing before the window never comes: there is no room to fetch it into")
  func windowHasNoBefore() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body()
    try body.write(pattern(10), at: 5000)
    body.beginStreaming()
    #expect(body.availability(at: 4999) == .missing)
    try body.write(pattern(100), at: 5010)
    #expect(body.availability(at: 5000) == .bytes(until: 5010))
    #expect(body.availability(at: 5010) == .bytes(until: 5110))
    #expect(body.availability(at: 4999) == .failed(.notKept))
    #expect(throws: StoreError.full) { try body.write(pattern(10), at: 4000) }
    #expect(throws: StoreError.full) { try body.write(pattern(200), at: 4990) }
    #expect(body.availability(at: 5110) == .missing)
    #expect(body.windowBytes(at: 5010, limit: 100) == Array(pattern(100)))
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
