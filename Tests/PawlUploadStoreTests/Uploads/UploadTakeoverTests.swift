import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Who writes an upload") struct UploadTakeoverTests {
  @Test("a takeover ends the old writer at once, whose displacement is told once, and goes on at its offset")
  func takesOver() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 100)
    var displaced = 0
    let first = try fixture.writer(upload) { displaced += 1 }
    #expect(first.write(pattern(30)) == .written(unsynced: 30))
    var second: UploadWriter?
    #expect(first.isCurrent)
    upload.takeOver(on: fixture.loop, displaced: {}, then: { second = $0 })
    #expect(!first.isCurrent)
    #expect(first.write(pattern(30)) == .displaced)
    #expect(second == nil)
    fixture.loop.turn { second == nil }
    let writer = try #require(second)
    #expect(displaced == 1)
    #expect(writer.offset == 30)
    #expect(first.write(pattern(30)) == .displaced)
    first.detach()
    #expect(writer.write(Array(pattern(100)[30...])) == .written(unsynced: 100))
    #expect(try fixture.sync(upload) == 100)
    #expect(displaced == 1)
  }

  @Test("of two takeovers in one breath the second one gets it, and the first is told")
  func supersedes() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    var (firstDisplaced, firstGranted) = (false, false)
    upload.takeOver(on: fixture.loop, displaced: { firstDisplaced = true }, then: { _ in firstGranted = true })
    let second = try fixture.writer(upload)
    fixture.loop.turn { !firstDisplaced }
    #expect(!firstGranted)
    #expect(second.write([1]) == .written(unsynced: 1))
  }

  @Test(
    "the end that was expected stays expected where the write under way at a takeover reaches it, and only there",
    arguments: [(UInt64(100), UInt64?(100)), (50, nil)])
  func endInWrite(_ bytes: UInt64, _ expected: UInt64?) throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 100)
    let first = try fixture.writer(upload)
    first.expectEnd(at: 100)
    // As another loop has it while its bytes go to the page cache.
    let isBegun = upload.state.withLock { $0.hold.writeBegan() }
    #expect(isBegun)
    var second: UploadWriter?
    upload.takeOver(on: fixture.loop, readOnly: true, displaced: {}, then: { second = $0 })
    #expect(upload.expectedEnd == 100)
    upload.state.withLock { state in
      (state.end, state.written) = (bytes, bytes)
      state.writeEnded()
    }
    upload.settle()
    fixture.loop.turn { second == nil }
    #expect(upload.expectedEnd == expected)
    #expect(second?.offset == bytes)
    withExtendedLifetime(first) {}
  }

  @Test("one who only looks ends the writer and writes nothing")
  func looks() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(5))
    let reader = try fixture.writer(upload, readOnly: true)
    #expect(writer.write([1]) == .displaced)
    #expect(reader.write([1]) == .displaced)
    #expect(reader.offset == 5)
    #expect(fixture.store.reservedBytes == 0)
    #expect(try fixture.sync(upload) == 5)
  }

  @Test("bytes beyond the length do not count, those up to it do")
  func tooLong() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 10)
    let writer = try fixture.writer(upload)
    #expect(writer.write(pattern(11)) == .tooLong)
    #expect(writer.offset == 10)
    #expect(writer.write([1]) == .tooLong)
    #expect(writer.write([]) == .written(unsynced: 10))
    #expect(try fixture.contents(upload) == Array(pattern(11).prefix(10)))
  }

  @Test("where the spool is full, the bytes that fit count, and more fit when there is room again")
  func full() throws {
    let fixture = try UploadFixture { $0.maxSize = 1000 }
    let other = try fixture.create()
    try fixture.writer(other).write(pattern(400))
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    #expect(writer.write(pattern(700)) == .full)
    #expect(writer.offset == 600)
    #expect(writer.write([1]) == .full)
    #expect(try fixture.sync(upload) == 600)
    #expect(try fixture.tryCreate().failure == .full)
    #expect(try fixture.step { other.remove(on: $0, then: $1) })
    try fixture.settle()
    #expect(writer.write(pattern(400)) == .written(unsynced: 400))
    #expect(try fixture.sync(upload) == 1000)
    #expect(fixture.store.usedBytes == 1000)
  }

  @Test("a file that cannot be written fails the writer and keeps what was durable")
  func fails() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(10))
    #expect(try fixture.sync(upload) == 10)
    let readOnly = UploadDescriptor(
      adopting: try Files.open(fixture.path(upload), O_RDONLY), fixture.store.core, upload.charge)
    let kept = upload.state.withLock { state in
      defer { state.descriptor = readOnly }
      return state.descriptor
    }
    #expect(writer.write(pattern(10)) == .failed)
    #expect(writer.offset == 10)
    #expect(fixture.logged("upload-write-failed").count == 1)
    upload.state.withLock { $0.descriptor = kept }
    #expect(writer.write(pattern(10)) == .written(unsynced: 10))
  }

  @Test("takeovers from two loops at once: each offset given is the one the next byte goes to, no byte counts twice")
  func race() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let rounds = 200
    let second = try SecondLoop()
    let loops = [fixture.loop, second.loop]
    let (finished, first) = (Locked(0), fixture.loop)
    let finish: @Sendable () -> Void = {
      finished.withLock { $0 += 1 }
      first.run {}
    }
    // Each writer adds the bytes that belong where it stands: whoever wrote twice or left a gap would show.
    let content = pattern(64 * rounds * 4)
    for loop in loops { loop.run { Contender(upload, loop, rounds: rounds, content) { finish() }.go() } }
    fixture.loop.turn { finished.withLock { $0 } < 2 }
    let count = try fixture.sync(upload)
    #expect(count > 0)
    #expect(try fixture.contents(upload) == Array(content.prefix(Int(count))))
    #expect(fixture.store.usedBytes == count)
  }
}

/// Takes over, writes two pieces, and again.
private final class Contender: @unchecked Sendable {
  // Safe: touched on its loop only.
  private let upload: SpooledUpload
  private let loop: EventLoop
  private var left: Int
  private let content: [UInt8]
  private let finish: () -> Void
  private var turn = 0
  private var writer: UploadWriter?

  init(_ upload: SpooledUpload, _ loop: EventLoop, rounds: Int, _ content: [UInt8], finish: @escaping () -> Void) {
    (self.upload, self.loop, left, self.content, self.finish) = (upload, loop, rounds, content, finish)
  }

  func go() {
    guard left > 0 else { return finish() }
    left -= 1
    turn += 1
    let turn = turn
    upload.takeOver(on: loop, displaced: { self.advance(from: turn) }, then: { self.write($0, turn) })
  }

  private func write(_ writer: UploadWriter, _ turn: Int) {
    self.writer = writer
    for _ in 0..<2 {
      let start = Int(writer.offset)
      // Displaced: the callback goes on.
      guard case .written = writer.write(Array(content[start..<start + 64])) else { return }
    }
    loop.nextTurn {
      writer.detach()
      self.advance(from: turn)
    }
  }

  private func advance(from turn: Int) { if turn == self.turn { go() } }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
