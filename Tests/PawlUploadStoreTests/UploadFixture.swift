import CLinux
import PawlBase
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

/// One spool on a loop that turns on the test's own thread.
final class UploadFixture {
  let directory: TestDirectory
  let loop: EventLoop
  let pool = WorkerPool(threads: 4)
  let longJobs = WorkerPool(threads: 1)
  let clock: ManualClock
  let log = Locked([String]())
  let store: UploadStore
  let events: EventLog

  static let boot = ObjectID(high: 1, low: 1)

  init(
    in directory: TestDirectory = TestDirectory(), boot: ObjectID = UploadFixture.boot,
    clock: ManualClock = ManualClock(), lent: Set<UploadID> = [], change: (inout UploadStoreSettings) -> Void = { _ in }
  ) throws {
    (self.directory, self.clock) = (directory, clock)
    loop = try EventLoop(index: 0)
    let log = log
    events = EventLog { line in log.withLock { $0.append(line) } }
    var settings = UploadStoreSettings(name: "test", path: directory.path + "/spool", maxSize: 1 << 30, minFree: 0)
    // Most tests look at bytes alone.
    settings.countsRecords = false
    change(&settings)
    store = try UploadStore(
      settings, pool: pool, longJobs: longJobs, events: events, clock: clock, lent: lent, boot: boot)
  }

  deinit {
    store.close()
    longJobs.stop()
    pool.stop()
  }

  var lines: [String] {
    events.flush()
    return log.withLock { $0 }
  }
  func logged(_ event: String) -> [String] { lines.filter { $0.contains(" \(event)") } }

  /// No completion runs within the call.
  func result<R>(_ start: (@escaping (R) -> Void) -> Void) throws -> R { try loop.result(mayBeWithin: false, start) }

  /// What a killed process leaves behind, opened again in the same run of the kernel.
  func killed(boot: ObjectID = UploadFixture.boot) throws -> UploadFixture {
    try UploadFixture(in: try directory.copy(), boot: boot, clock: clock)
  }

  /// Opened after a power cut. What was not synced is still in the copy, and must not count.
  func cut() throws -> UploadFixture { try killed(boot: ObjectID(high: 2, low: 2)) }

  func origin(_ client: String = "", isTus: Bool = false, part: UploadOrigin.Concatenation = .none) -> UploadOrigin {
    var head = RequestHead(method: .put, target: Bytes("/files/a"), authority: Bytes("a.example"))
    head.fields.append(.authorization, "Bearer x")
    return UploadOrigin(head: head, client: Array(client.utf8), isTus: isTus, concatenation: part)
  }

  func tryCreate(
    _ id: ObjectID = .make(), _ origin: UploadOrigin? = nil, length: UInt64? = nil, finalAt: UInt64? = nil,
    durably: Bool = true
  ) throws -> UploadStore.Created {
    try result {
      store.create(
        id, origin ?? self.origin(), length: length, finalAt: finalAt, durably: durably, on: loop, then: $0)
    }
  }

  func create(
    _ origin: UploadOrigin? = nil, length: UInt64? = nil, finalAt: UInt64? = nil, durably: Bool = true
  ) throws -> SpooledUpload {
    try tryCreate(.make(), origin, length: length, finalAt: finalAt, durably: durably).get()
  }

  func writer(
    _ upload: SpooledUpload, readOnly: Bool = false, displaced: @escaping () -> Void = {}
  ) throws -> UploadWriter {
    try result { upload.takeOver(on: loop, readOnly: readOnly, displaced: displaced, then: $0) }
  }

  @discardableResult
  func sync(_ upload: SpooledUpload) throws -> UInt64 { try result { upload.sync(on: loop, then: $0) }.get() }

  /// A transition, and whether it happened.
  func step(_ start: (EventLoop, @escaping (Bool) -> Void) -> Void) throws -> Bool {
    try result { start(loop, $0) }
  }

  /// An upload with these bytes, complete.
  func completed(_ bytes: [UInt8], _ origin: UploadOrigin? = nil) throws -> SpooledUpload {
    let upload = try create(origin)
    let writer = try writer(upload)
    writer.write(bytes)
    #expect(try step { upload.complete(on: $0, then: $1) })
    writer.detach()
    return upload
  }

  /// A part of a concatenation, with all its bytes on the disk.
  func part(_ bytes: [UInt8], of client: String = "me") throws -> SpooledUpload {
    let upload = try create(origin(client, isTus: true, part: .partial), length: UInt64(bytes.count))
    try writer(upload).write(bytes)
    try sync(upload)
    return upload
  }

  func join(
    _ parts: [SpooledUpload], as id: ObjectID = .make(), of client: String = "me"
  ) throws -> UploadStore.Created {
    try result { store.concatenate(id, origin(client, isTus: true, part: .final), parts: parts, on: loop, then: $0) }
  }

  /// Forwards it and has it answered.
  func answer(
    _ upload: SpooledUpload, body: [UInt8] = [], keepFor: Duration = .seconds(3600), askers: [[UInt8]] = []
  ) throws {
    #expect(upload.beginForward())
    let answer = UploadAnswer(status: 200, body: body, at: clock.wallSeconds(), keepFor: keepFor)
    #expect(try step { upload.answer(answer, for: askers, on: $0, then: $1) })
  }

  func sweep() throws {
    store.core.sweep()
    try settle()
  }

  func found(_ upload: SpooledUpload) throws -> SpooledUpload { try #require(store.find(upload.id)) }

  func contents(_ upload: SpooledUpload) throws -> [UInt8] {
    let body = try result { upload.openBody(on: loop, then: $0) }.get()
    var bytes = [UInt8](repeating: 0, count: Int(body.count))
    let count = pread(body.fd, &bytes, bytes.count, 0)
    withExtendedLifetime(body) {}
    return Array(bytes.prefix(max(0, count)))
  }

  func path(_ upload: SpooledUpload) -> String { store.core.path(of: upload.id) }
  func hasFile(_ upload: SpooledUpload) -> Bool { Files.exists(path(upload)) }

  /// Waits for what the pool and the catalogue bring about; ten seconds at the most, which only a failing test sees.
  func wait(until condition: () -> Bool) throws {
    let clock = SystemClock()
    let end = clock.now().advanced(by: .seconds(10))
    while !condition() && clock.now() < end { try settle() }
    #expect(condition())
  }

  /// Waits until the pool has done what it was given so far, and what that led to is recorded.
  func settle() throws {
    for _ in 0..<5 {
      for _ in 0..<8 {
        let _: Int = try result { done in pool.run({ 0 }, then: loop) { done($0) } }
      }
      store.flush()
    }
  }

  /// The catalogue fails while `body` runs, as it does when the disk is full.
  func withFailingCatalogue(_ body: () throws -> Void) throws {
    store.flush()
    let other = try Database(path: UploadCatalogue.path(in: directory.path + "/spool"), isReader: false)
    try other.execute("ALTER TABLE uploads RENAME TO gone")
    try body()
    try other.execute("ALTER TABLE gone RENAME TO uploads")
  }
}

extension UploadWriter {
  @discardableResult
  func write(_ bytes: [UInt8]) -> UploadWriteResult { bytes.withUnsafeBytes { write($0) } }
}

/// What a test does on a loop other than its own.
final class SecondLoop {
  let loop: EventLoop
  private let thread: LoopThread

  init() throws { (loop, thread) = try EventLoop.startThread(index: 1) }

  deinit {
    loop.stop()
    thread.join()
  }
}
