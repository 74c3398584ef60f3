import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Writing a body") struct StoredBodyWriteTests {
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
    #expect(copy.logged("body-damaged").isEmpty)
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
}
