import CLinux
import PawlBase
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

private let mebibyte = 1 << 20

@Suite("A body file that others touch while pawl runs") struct StoredBodyStampTests {
  private static let bytes = pattern(3 * mebibyte)

  /// Stored, read and looked at.
  private func stored(_ count: Int = 3 * mebibyte, total: Int? = nil) throws -> (StoreFixture, StoredBody, String) {
    let fixture = try StoreFixture { $0.memory = 0 }
    let body = try fixture.store("/a", Array(Self.bytes[..<count]), total: total.map { UInt64($0) }).body
    #expect(body.isUntouched())
    return (fixture, body, fixture.path(of: body))
  }

  /// As somebody else would, some time later.
  private func write(_ bytes: [UInt8], to path: String, at offset: Int = 0) throws {
    let descriptor = try Files.open(path, O_RDWR)
    defer { close(descriptor) }
    #expect(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } == bytes.count)
    var times = [timespec(tv_sec: 1_900_000_000, tv_nsec: 5), timespec(tv_sec: 1_900_000_000, tv_nsec: 5)]
    #expect(futimens(descriptor, &times) == 0)
  }

  @Test("what was written into is found out by its digest, and the rest is trusted again")
  func writtenInto() throws {
    let (fixture, body, path) = try stored()
    try write([1, 2, 3], to: path, at: mebibyte + 7)
    #expect(!body.isUntouched() && body.isUntouched())
    #expect(body.availability(at: 0) == .checking && body.isComplete)
    #expect(try fixture.readAll(body) == Array(Self.bytes[..<mebibyte]))
    #expect(try fixture.readAll(body, from: UInt64(2 * mebibyte)) == Array(Self.bytes[(2 * mebibyte)...]))
    #expect(body.lostRun(at: UInt64(mebibyte)) == UInt64(mebibyte)..<UInt64(2 * mebibyte))
    #expect(fixture.logged("body-file-changed").count == 1 && body.fileChange.count == 1)
    #expect(body.fileChange.spoils(0..<1))
  }

  @Test("what was cut is lost from there on", arguments: [1, mebibyte, 2 * mebibyte + 5, 3 * mebibyte - 1])
  func cut(_ size: Int) throws {
    let (fixture, body, path) = try stored()
    #expect(truncate(path, off_t(size)) == 0)
    body.readerMoved(token: ObjectIdentifier(fixture), position: 0)
    body.withFill { $0 = fixture }
    #expect(!body.isUntouched())
    let kept = size / mebibyte * mebibyte
    #expect(body.held == HeldBytes([0..<UInt64(kept)]) && !body.isComplete && body.isProvable)
    #expect(try fixture.readAll(body) == Array(Self.bytes[..<kept]))
    try body.write(Array(Self.bytes[kept...]), at: UInt64(kept))
    #expect(try body.complete() && fixture.readAll(body) == Self.bytes)
    #expect(body.isUntouched() && body.fileChange.count == 1)
    body.withFill { $0 = nil }
  }

  @Test("one that is cut and grown again under a fill holds nothing of what it was")
  func grownAgain() throws {
    let (fixture, body, path) = try stored(2 * mebibyte + 100, total: 3 * mebibyte)
    body.withFill { $0 = fixture }
    #expect(truncate(path, 0) == 0 && truncate(path, off_t(2 * mebibyte + 100)) == 0)
    try write([], to: path)
    // The next write would hide it.
    try body.write(Array(Self.bytes[(2 * mebibyte + 100)...]), at: UInt64(2 * mebibyte + 100))
    #expect(fixture.logged("body-file-changed").count == 1)
    #expect(try fixture.readAll(body).isEmpty)
    #expect(try fixture.checkAll(body, 0..<UInt64(3 * mebibyte)) == .checked)
    #expect(body.lostRun(at: 0) == 0..<UInt64(2 * mebibyte + 100))
    try body.write(Self.bytes)
    #expect(try body.complete() && fixture.readAll(body) == Self.bytes)
    body.withFill { $0 = nil }
  }

  @Test("one that was closed for want of use and has another in its place when it is opened again")
  func replaced() throws {
    let (fixture, body, path) = try stored()
    fixture.store.core.durability.syncAll(fixture.store.core)
    try fixture.settle()
    #expect(body.closeIfIdle())
    #expect(unlink(path) == 0)
    try TestDirectory.write(pattern(3 * mebibyte, seed: 9), to: path)
    body.withFill { $0 = fixture }
    #expect(try fixture.readAll(body).isEmpty && body.lostRun(at: 0) != nil)
    body.withFill { $0 = nil }
  }

  @Test("pawl's own writes are no change, whoever looks meanwhile, and wherever they come from")
  func ownWrites() throws {
    let (fixture, body, _) = try stored(mebibyte, total: 3 * mebibyte)
    let isOver = Locked(false)
    let looked = Locked(0)
    for _ in 0..<2 {
      fixture.pool.run {
        while !isOver.withLock({ $0 }) {
          _ = body.isUntouched()
          looked.withLock { $0 += 1 }
        }
      }
    }
    // From both sides of the gap, on two threads.
    let middle = 2 * mebibyte
    let written = Locked(0)
    for half in [mebibyte..<middle, middle..<3 * mebibyte] {
      fixture.pool.run {
        for start in stride(from: half.lowerBound, to: half.upperBound, by: 10_000) {
          let piece = Self.bytes[start..<min(start + 10_000, half.upperBound)]
          piece.withUnsafeBytes { bytes in
            do throws(StoreError) { try body.write(bytes, at: UInt64(start)) } catch { Issue.record(error) }
          }
        }
        written.withLock { $0 += 1 }
      }
    }
    while written.withLock({ $0 }) < 2 { sched_yield() }
    isOver.withLock { $0 = true }
    #expect(body.complete() && body.fileChange.count == 0 && fixture.logged("body-file-changed").isEmpty)
    #expect(try fixture.readAll(body) == Self.bytes && looked.withLock { $0 } > 0)
  }

  @Test("a look that began in the middle of a write of pawl's own finds no change when that is over")
  func looksInTheMiddle() throws {
    let (fixture, body, path) = try stored(mebibyte, total: 3 * mebibyte)
    let descriptor = try #require(body.state.withLock { $0.descriptor })
    let write = body.state.withLock { state in
      (state.writes, state.writing) = (state.writes + 1, state.writing + 1)
      return state.writes
    }
    let look = body.beginLook()
    let halfWritten = try #require(FileStamp(of: descriptor.raw))
    try self.write([1, 2, 3], to: path, at: mebibyte)
    body.noteStamp(of: descriptor, after: write)
    #expect(body.endLook(look, at: descriptor, halfWritten))
    #expect(body.isUntouched() && body.fileChange.count == 0 && fixture.logged("body-file-changed").isEmpty)
  }

  @Test("is looked at once a millisecond where it is sent at once")
  func looks() throws {
    let (fixture, body, path) = try stored()
    defer { withExtendedLifetime(fixture) {} }
    func ready(_ milliseconds: UInt64) -> ReadyBytes? {
      body.ready(0..<10, isNamed: false, now: Monotonic(nanoseconds: milliseconds << 20))
    }
    #expect(ready(1) != nil)
    try write([1], to: path)
    #expect(ready(1) != nil && ready(2) == nil && ready(3) == nil)
  }

  @Test("what came out short is read back before it is sent again")
  func distrusted() throws {
    let (fixture, body, _) = try stored()
    body.distrust(UInt64(mebibyte + 3)..<UInt64(mebibyte + 4))
    #expect(body.availability(at: UInt64(mebibyte)) == .checking)
    #expect(body.availability(at: 0) == .bytes(until: UInt64(mebibyte)))
    #expect(try fixture.readAll(body) == Self.bytes)
  }

  @Test(
    "what waits for the network is spoilt where it was written into, or around the place where it was cut",
    arguments: [
      (nil, 0..<1, true), (nil, 0..<0, false), (0, 0..<100, false), (1 << 21, 0..<1 << 30, false),
      (5000, 0..<5000, false), (5000, 0..<5001, true), (5000, 1 << 20..<2 << 20, true),
      (5000, 2 << 20..<9 << 20, false),
    ] as [(UInt64?, Range<UInt64>, Bool)])
  func spoils(_ size: UInt64?, _ range: Range<UInt64>, _ expected: Bool) {
    var change = FileChange()
    change.size = size
    #expect(change.spoils(range) == expected)
  }
}
