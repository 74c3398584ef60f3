import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

private let mebibyte = 1 << 20

@Suite("Lost bytes that come again") struct StoredBodyMendingTests {
  private static let size = 3 * mebibyte + 1000
  private static let bytes = pattern(size)

  /// A stored body of 3 MiB and 1000 bytes, of which the bytes at these offsets were changed between two runs; read back.
  private func damaged(at offsets: [Int], total: UInt64? = nil, upTo size: Int = Self.size) throws -> (
    StoreFixture, StoredBody
  ) {
    let directory = TestDirectory()
    let path: String
    do {
      let fixture = try StoreFixture(in: directory)
      path = fixture.path(of: try fixture.store("/a", Array(Self.bytes[..<size]), total: total).body)
    }
    let descriptor = try Files.open(path, O_RDWR)
    defer { close(descriptor) }
    for offset in offsets {
      var byte = Self.bytes[offset] ^ 1
      #expect(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
    }
    let fixture = try StoreFixture(in: directory)
    let body = try #require(try fixture.first("/a")).body
    #expect(try fixture.checkAll(body, 0..<UInt64(size)) == .checked)
    return (fixture, body)
  }

  private func piece(_ range: Range<Int>) -> [UInt8] { Array(Self.bytes[range]) }

  @Test("count when their digest is the one that was recorded, piece by piece, and survive a restart")
  func mended() throws {
    let (fixture, body) = try damaged(at: [5, mebibyte, Self.size - 1])
    #expect(body.lostRun(at: 7) == 0..<UInt64(2 * mebibyte))
    #expect(body.lostRun(at: UInt64(2 * mebibyte)) == nil)
    #expect(body.lostCount == UInt64(2 * mebibyte + 1000) && body.isProvable && !body.isComplete)
    #expect(body.known == HeldBytes([0..<UInt64(Self.size)]))
    #expect(body.lastLost(below: .max) == UInt64(Self.size) && body.lastLost(below: 9) == UInt64(mebibyte))
    var position = 0
    while position < Self.size {
      let end = min(position + 70_000, Self.size)
      try body.write(piece(position..<end), at: UInt64(position))
      // Not before all of a segment is there.
      #expect(body.held.contains(0..<UInt64(mebibyte)) == (end >= mebibyte))
      position = end
    }
    #expect(body.lostCount == 0 && body.complete())
    #expect(try fixture.readAll(body) == Self.bytes)
    body.fillPaused()
    #expect(fixture.logged("body-mended").map { $0.contains("at=0 bytes=2097152") } == [true, false])
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    let loaded = try #require(try again.first("/a")).body
    #expect(try loaded.isComplete && again.readAll(loaded) == Self.bytes)
    #expect(again.logged("body-damaged").isEmpty)
  }

  @Test("are refused when they are others, and stay lost", arguments: [0, 500_000, mebibyte - 1])
  func others(_ offset: Int) throws {
    let (fixture, body) = try damaged(at: [9])
    var other = piece(0..<mebibyte)
    other[offset] ^= 0x40
    #expect(throws: StoreError.differs) { try body.write(other) }
    #expect(body.lostRun(at: 0) == 0..<UInt64(mebibyte) && !body.held.contains(0..<1))
    #expect(body.availability(at: 0) == .missing)
    // The right ones still count.
    try body.write(piece(0..<mebibyte))
    #expect(try body.complete() && fixture.readAll(body) == Self.bytes)
  }

  @Test("that come with others beside them leave those to themselves")
  func beside() throws {
    let (fixture, body) = try damaged(at: [3], total: UInt64(Self.size), upTo: 2 * mebibyte)
    #expect(!body.isProvable && body.lostRun(at: 0) == 0..<UInt64(mebibyte))
    // What is held is skipped, whatever comes for it.
    var all = Self.bytes
    all[mebibyte + 5] ^= 1
    try body.write(all)
    #expect(try body.complete() && fixture.readAll(body) == Self.bytes)
  }

  @Test("do not pass through memory, where nobody could hold them back")
  func window() throws {
    let (_, body) = try damaged(at: [3])
    #expect(body.beginStreaming())
    #expect(throws: StoreError.dropped) { try body.write(piece(0..<mebibyte)) }
    #expect(body.windowBytes(at: 0, limit: 10) == nil)
  }

  @Test("are found out again after a start, mended in part or not at all")
  func restarted() throws {
    let (fixture, body) = try damaged(at: [900_000])
    try body.write(piece(0..<500_000))
    body.fillPaused()
    let used = fixture.store.usedBytes
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    let loaded = try #require(try again.first("/a")).body
    #expect(again.store.usedBytes == used)
    #expect(try again.readAll(loaded).isEmpty)
    #expect(loaded.lostRun(at: 0) == 0..<UInt64(mebibyte) && loaded.tagLimit(Array("t".utf8)) == .max)
    try loaded.write(piece(0..<mebibyte))
    #expect(try loaded.complete() && again.readAll(loaded) == Self.bytes)
  }

  @Test("a span takes in all of the segments it begins and ends in")
  func widened() throws {
    let (_, body) = try damaged(at: [5, mebibyte])
    #expect(body.wideningToSegments(10..<20) == 0..<UInt64(mebibyte))
    #expect(body.wideningToSegments(10..<UInt64(mebibyte + 1)) == 0..<UInt64(2 * mebibyte))
    #expect(
      body.wideningToSegments(UInt64(2 * mebibyte)..<UInt64(Self.size)) == UInt64(2 * mebibyte)..<UInt64(Self.size))
    #expect(body.wideningToSegments(7..<7) == 7..<7)
  }

  @Test(
    "of a body that somebody reads all may be lost: it is kept for him, and dropped where nobody does",
    arguments: [true, false])
  func allLost(_ isRead: Bool) throws {
    let fixture = try StoreFixture { $0.memory = 0 }
    let body = try fixture.store("/a", Self.bytes).body
    if isRead { body.withFill { $0 = fixture } }
    #expect(truncate(fixture.path(of: body), 0) == 0)
    #expect(!body.isUntouched())
    #expect((body.failure == nil) == isRead && body.held.isEmpty)
    guard isRead else { return #expect(fixture.logged("body-dropped").count == 1) }
    try body.write(Self.bytes)
    #expect(try body.complete() && fixture.readAll(body) == Self.bytes)
    body.withFill { $0 = nil }
  }
}

extension StoreFixture {
  func checkAll(_ body: StoredBody, _ range: Range<UInt64>) throws -> CheckOutcome {
    try result { body.checkAll(range, on: loop, $0) }
  }
}
