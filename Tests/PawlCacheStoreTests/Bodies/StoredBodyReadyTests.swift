import PawlCache
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What a body can give at once") struct StoredBodyReadyTests {
  private func ready(_ body: StoredBody, _ range: Range<UInt64>, isNamed: Bool = false, at second: UInt64 = 0)
    -> ReadyBytes?
  {
    body.ready(range, isNamed: isNamed, now: Monotonic(nanoseconds: second * 1_000_000_000))
  }

  @Test("is nothing before it is complete, then runs of its file")
  func file() throws {
    let fixture = try StoreFixture { $0.memoryObject = 0 }
    let body = try fixture.body(total: 100)
    try body.write(pattern(60))
    #expect(ready(body, 0..<10) == nil)
    try body.write(Array(pattern(100)[60...]), at: 60)
    #expect(body.complete())
    guard case .file(let slice)? = ready(body, 10..<30) else { return #expect(Bool(false), "no file") }
    #expect(slice.offset == 10 && slice.count == 20 && slice.fd >= 0)
    #expect(body.readers.count == 0)
  }

  @Test("is nothing under a tag that is not proven to its end")
  func named() throws {
    let fixture = try StoreFixture { $0.memoryObject = 0 }
    let body = try fixture.body(total: 100)
    try body.write(pattern(100))
    #expect(body.complete())
    body.addTag(TagRecord(tag: [1], limit: 50))
    #expect(ready(body, 10..<30, isNamed: true) == nil && ready(body, 10..<30) != nil)
    let other = try fixture.body(total: 100)
    try other.write(pattern(100))
    #expect(other.complete())
    other.addTag(TagRecord(tag: [1]))
    #expect(ready(other, 10..<30, isNamed: true) != nil)
  }

  @Test("is asked of the kernel again when it was not seen for long, and read in the pool where it is not there")
  func warmth() throws {
    let fixture = try StoreFixture { $0.memoryObject = 0 }
    let body = try fixture.body(total: 100)
    try body.write(pattern(100))
    #expect(body.complete())
    #expect(body.isInPageCache(0..<100, now: Monotonic(nanoseconds: 1_000_000_000_000)))
    #expect(ready(body, 0..<100, at: 2000) != nil)
    var isWarm = false
    body.warm(0..<100, on: fixture.loop) { isWarm = true }
    fixture.loop.turn { !isWarm }
    #expect(ready(body, 0..<100, at: 4000) != nil)
  }
}
