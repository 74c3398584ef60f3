import CLinux
import Dispatch
import PawlBase
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

/// One cache on a loop that turns on the test's own thread.
final class StoreFixture {
  let directory: TestDirectory
  let loop: EventLoop
  private static let threads = 4
  let pool = WorkerPool(threads: threads)
  let clock = ManualClock()
  let log = Locked([String]())
  let store: CacheStore

  /// Where small bodies lie in packs, as they do by default.
  convenience init(
    packingIn directory: TestDirectory, change: (inout CacheStoreSettings) -> Void = { _ in }
  ) throws {
    try self.init(in: directory) { settings in
      settings.packedObject = 64 << 10
      change(&settings)
    }
  }

  /// Each body has a file of its own.
  init(in directory: TestDirectory = TestDirectory(), change: (inout CacheStoreSettings) -> Void = { _ in }) throws {
    self.directory = directory
    loop = try EventLoop(index: 0)
    let log = log
    let events = EventLog { line in log.withLock { $0.append(line) } }
    var settings = CacheStoreSettings(
      name: "test", path: directory.path + "/cache", maxSize: 1 << 30, minFree: 0, packedObject: 0)
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
    _ target: String, _ bytes: [UInt8], total: UInt64? = nil, tag: String = "t", fields: [(FieldName, String)] = [],
    superseding: [StoredResponse] = []
  ) throws -> StoredResponse {
    let total = total ?? UInt64(bytes.count)
    let body = try body(total: total)
    body.addTag(TagRecord(tag: Array(tag.utf8)))
    let response = StoredResponse(head: head(fields), body: body, storedAt: clock.wallSeconds())
    store.publish(response, in: try resource(target), superseding: superseding)
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
        let count = piece.withUnsafeMutableBytes { pread(slice.fd, $0.baseAddress, $0.count, off_t(slice.offset)) }
        #expect(count == piece.count)
        bytes += piece
      case .checking: #expect(try check(body, at: position) == .checked)
      case .missing, .ended, .failed: return bytes
      }
    }
  }

  func path(of body: StoredBody) -> String { store.core.path(of: body.id) }
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
