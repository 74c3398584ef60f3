import CLinux
import Dispatch
import PawlBase
import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import Testing

@testable import PawlStore

/// A directory of its own under `TMPDIR`, removed at the end.
final class TestDirectory {
  let path: String

  init(under parent: String? = nil) {
    let base = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    path = "\(base)/pawl-store-\(ObjectID.make().hex)"
    mkdir(path, 0o700)
  }

  deinit { Self.remove(path) }

  static func remove(_ path: String) {
    for entry in entries(path) {
      if isDirectory(entry) { remove(entry) } else { unlink(entry) }
    }
    rmdir(path)
  }

  static func entries(_ path: String) -> [String] {
    do throws(StoreError) {
      return try Files.names(in: path).map { "\(path)/\($0)" }
    } catch {
      return []
    }
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
  }

  /// What a killed process leaves behind: everything as it stands in the page cache at this moment.
  func copy() throws -> TestDirectory {
    let target = TestDirectory()
    try Self.copy(path, to: target.path)
    return target
  }

  private static func copy(_ source: String, to target: String) throws {
    for entry in entries(source) {
      let copied = target + entry.dropFirst(source.count)
      if isDirectory(entry) {
        mkdir(copied, 0o700)
        try copy(entry, to: copied)
      } else {
        try write(try contents(entry), to: copied)
      }
    }
  }

  static func contents(_ path: String) throws(StoreError) -> [UInt8] {
    let descriptor = try Files.open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(try Files.size(descriptor, path)))
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    return Array(bytes.prefix(count))
  }

  static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let descriptor = try Files.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    guard bytes.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == bytes.count else {
      throw Files.failure("pwrite", path)
    }
  }
}

/// One cache on a loop that turns on the test's own thread.
final class StoreFixture {
  let directory: TestDirectory
  let loop: EventLoop
  private static let threads = 4
  let pool = WorkerPool(threads: threads)
  let clock = ManualClock()
  let log = Locked([String]())
  let store: CacheStore

  init(in directory: TestDirectory = TestDirectory(), change: (inout CacheStoreSettings) -> Void = { _ in }) throws {
    self.directory = directory
    loop = try EventLoop(index: 0)
    let log = log
    let events = EventLog { line in log.withLock { $0.append(line) } }
    var settings = CacheStoreSettings(name: "test", path: directory.path + "/cache", maxSize: 1 << 30, minFree: 0)
    change(&settings)
    store = try CacheStore(settings, pool: pool, events: events, clock: clock)
    self.events = events
  }
  private let events: EventLog

  deinit {
    store.close()
    pool.stop()
  }

  var lines: [String] {
    events.flush()
    return log.withLock { $0 }
  }
  func logged(_ event: String) -> [String] { lines.filter { $0.contains(" \(event)") } }

  func result<R>(_ start: (@escaping (R) -> Void) -> Void) throws -> R { try loop.result(start) }

  /// Waits until the pool has done what it was given so far and let go of it, and what that led to.
  func settle() throws {
    repeat {
      for _ in 0..<20 {
        let _: Int = try result { done in pool.run({ 0 }, then: loop) { done($0) } }
      }
      try meetAllThreads()
    } while !store.core.isSwept.withLock({ $0 })
    store.flush()
  }

  /// Every thread of the pool comes to one place: none still has what it worked on before.
  private func meetAllThreads() throws {
    let all = DispatchSemaphore(value: 0)
    for _ in 1..<Self.threads { pool.run { all.wait() } }
    let _: Int = try result { done in pool.run({ 0 }, then: loop) { done($0) } }
    for _ in 1..<Self.threads { all.signal() }
  }

  func key(_ target: String) -> CacheKey { CacheKey(authority: Bytes("a.example"), target: Bytes(target)) }

  func resource(_ target: String) throws -> Resource {
    try #require(store.resource(for: key(target), create: true))
  }

  /// The resource as a client finds it: loaded.
  func loaded(_ target: String) throws -> Resource? {
    guard let resource = store.resource(for: key(target), create: false) else { return nil }
    let _: Bool = try result { done in store.load(resource, on: loop) { done(true) } }
    return resource
  }

  func first(_ target: String) throws -> StoredResponse? {
    try loaded(target)?.withLock { $0.variants.first }
  }

  func head(_ fields: [(FieldName, String)] = []) -> StoredHead {
    var response = ResponseHead(status: 200)
    for (name, value) in fields { response.fields.append(name, value) }
    return StoredHead(
      request: RequestHead(method: .get, target: Bytes("/")), response: response, requestTime: 1_700_000_000,
      responseTime: 1_700_000_000, asksIdentity: true)
  }

  func body(expected: UInt64? = nil, total: UInt64? = nil) throws -> StoredBody {
    let made: StoredBody? = try result { done in
      store.createBody(expected: expected, total: total, on: loop) { done($0) }
    }
    return try #require(made)
  }

  /// Stores `bytes` under the target, published before they are written, as a fill does.
  @discardableResult
  func store(
    _ target: String, _ bytes: [UInt8], total: UInt64? = nil, tag: String = "t", fields: [(FieldName, String)] = []
  ) throws -> StoredResponse {
    let total = total ?? UInt64(bytes.count)
    let body = try body(total: total)
    body.addTag(TagRecord(tag: Array(tag.utf8)))
    let response = StoredResponse(head: head(fields), body: body, storedAt: clock.wallSeconds())
    store.publish(response, in: try resource(target))
    try body.write(bytes)
    if total == UInt64(bytes.count) { #expect(body.complete()) } else { body.fillPaused() }
    store.flush()
    return response
  }

  func check(_ body: StoredBody, at position: UInt64) throws -> CheckOutcome {
    try result { body.check(at: position, on: loop, $0) }
  }

  /// Reads as a client would: checks what has to be, stops where nothing is.
  func readAll(_ body: StoredBody, from start: UInt64 = 0) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let position = start + UInt64(bytes.count)
      switch body.availability(at: position) {
      case .bytes(let end):
        var piece = [UInt8](repeating: 0, count: Int(end - position))
        let slice = body.slice(position..<end)
        let count = piece.withUnsafeMutableBytes { pread(slice.fd, $0.baseAddress, $0.count, off_t(position)) }
        #expect(count == piece.count)
        bytes += piece
      case .checking: #expect(try check(body, at: position) == .checked)
      case .missing, .ended, .failed: return bytes
      }
    }
  }

  func path(of body: StoredBody) -> String { store.core.path(of: body.id) }
}

extension EventLoop {
  /// Turns the loop until `start`'s completion was called.
  func result<R>(mayBeWithin: Bool = true, _ start: (@escaping (R) -> Void) -> Void) throws -> R {
    var result: R?
    start { result = $0 }
    #expect(mayBeWithin || result == nil, "completed within the call")
    turn { result == nil }
    return try #require(result)
  }
}

extension StoredBody {
  func write(_ bytes: [UInt8], at offset: UInt64 = 0) throws(StoreError) {
    var outcome: Result<Void, StoreError> = .success(())
    bytes.withUnsafeBytes { buffer in
      do throws(StoreError) { try write(buffer, at: offset) } catch { outcome = .failure(error) }
    }
    try outcome.get()
  }
}

/// Octets that differ from place to place, so that a shift shows.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  return (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
}
