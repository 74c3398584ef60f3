import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

/// One MiB, the span of a segment.
private let mebibyte = 1 << 20

@Suite("What is on disk is checked before it is trusted") struct StoredBodyCheckTests {
  /// Stores 3.5 MiB, ends cleanly, lets `damage` do its work on the file and opens the cache anew.
  private func reopened(
    _ size: Int = 3 * mebibyte + mebibyte / 2, total: Int? = nil, fields: [(FieldName, String)] = [],
    settings: (inout CacheStoreSettings) -> Void = { _ in },
    damage: (_ path: String, _ directory: String) throws -> Void
  ) throws -> StoreFixture {
    let directory = TestDirectory()
    let path: String
    do {
      let fixture = try StoreFixture(in: directory)
      let response = try fixture.store("/a", pattern(size), total: total.map { UInt64($0) }, fields: fields)
      path = fixture.path(of: response.body)
    }
    try damage(path, directory.path + "/cache")
    return try StoreFixture(in: directory, change: settings)
  }

  private func flip(_ path: String, at offset: Int) throws {
    let descriptor = try Files.open(path, O_RDWR)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    #expect(pread(descriptor, &byte, 1, off_t(offset)) == 1)
    byte ^= 0x10
    #expect(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
  }

  @Test(
    "a flipped bit costs its segment and nothing else",
    arguments: [0, mebibyte - 1, mebibyte, 2 * mebibyte + 17, 3 * mebibyte + mebibyte / 2 - 1])
  func bitFlip(_ offset: Int) throws {
    let fixture = try reopened { path, _ in try flip(path, at: offset) }
    let size = 3 * mebibyte + mebibyte / 2
    let body = try #require(try fixture.first("/a")).body
    let bytes = pattern(size)
    let start = offset / mebibyte * mebibyte
    let end = min(start + mebibyte, size)
    #expect(try fixture.readAll(body) == Array(bytes[..<start]))
    #expect(try fixture.readAll(body, from: UInt64(end)) == Array(bytes[end...]))
    #expect(body.held.gaps(in: 0..<UInt64(size)) == [UInt64(start)..<UInt64(end)])
    #expect(!body.isComplete)
    #expect(body.availability(at: UInt64(offset)) == .missing)
    #expect(fixture.logged("body-damaged").count == 1 && fixture.logged("body-mended").isEmpty)
    // What comes in its place is known again: the tag stays good for all of it.
    #expect(body.tagLimit(Array("t".utf8)) == .max)
    #expect(body.isProvable && body.lostRun(at: UInt64(offset)) == UInt64(start)..<UInt64(end))
    // Filled again, it is whole.
    try body.write(Array(bytes[start..<end]), at: UInt64(start))
    #expect(body.complete())
    #expect(fixture.logged("body-mended").count == 1)
    #expect(try fixture.readAll(body) == bytes)
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    #expect(try again.readAll(#require(try again.first("/a")).body) == bytes)
  }

  @Test("the origin's strong validator keeps a tag whole over a cut")
  func strongValidator() throws {
    let fixture = try reopened(fields: [(.etag, "\"x\"")]) { path, _ in try flip(path, at: 5) }
    let body = try #require(try fixture.first("/a")).body
    #expect(try fixture.readAll(body).isEmpty)
    #expect(body.tagLimit(Array("t".utf8)) == .max)
  }

  @Test(
    "a truncated file: the segments beyond its size are not held",
    arguments: [0, 1, mebibyte - 1, mebibyte, 2 * mebibyte + 1, 3 * mebibyte + mebibyte / 2 - 1])
  func truncated(_ size: Int) throws {
    let fixture = try reopened { path, _ in #expect(truncate(path, off_t(size)) == 0) }
    let kept = size / mebibyte * mebibyte
    guard let response = try fixture.first("/a") else {
      #expect(kept == 0)
      #expect(fixture.logged("body-dropped").count == 1)
      try fixture.settle()
      #expect(fixture.store.usedBytes == 0)
      return
    }
    #expect(response.body.held == HeldBytes([0..<UInt64(kept)]))
    #expect(try fixture.readAll(response.body) == Array(pattern(3 * mebibyte + mebibyte / 2)[..<kept]))
    #expect(fixture.logged("body-damaged").count == 1)
    #expect(response.body.lostRun(at: UInt64(kept)) == UInt64(kept)..<UInt64(3 * mebibyte + mebibyte / 2))
  }

  @Test("a file that grew is cut back to what pawl wrote")
  func grown() throws {
    var file = ""
    let fixture = try reopened { path, _ in
      file = path
      #expect(truncate(path, off_t(9 * mebibyte)) == 0)
    }
    let response = try #require(try fixture.first("/a"))
    #expect(try fixture.readAll(response.body) == pattern(3 * mebibyte + mebibyte / 2))
    #expect(fixture.logged("body-size-differs").count == 1)
    #expect(try TestDirectory.contents(file).count == 3 * mebibyte + mebibyte / 2)
  }

  @Test("a missing file: the object is dropped, its resource too", arguments: [true, false])
  func missing(_ isSwept: Bool) throws {
    let fixture = try reopened { path, _ in #expect(unlink(path) == 0) }
    if isSwept { try fixture.settle() }
    #expect(try fixture.first("/a") == nil)
    try fixture.settle()
    #expect(fixture.logged("body-dropped").count == 1)
    #expect(fixture.store.resource(for: fixture.key("/a"), create: false) == nil)
    #expect(fixture.store.usedBytes == 0)
  }

  @Test("a directory, a symbolic link or a socket in place of the file is dropped", arguments: ["directory", "link"])
  func foreignKind(_ kind: String) throws {
    let fixture = try reopened { path, directory in
      #expect(rename(path, directory + "/elsewhere") == 0)
      if kind == "directory" { mkdir(path, 0o700) } else { #expect(symlink(directory + "/elsewhere", path) == 0) }
    }
    #expect(try fixture.first("/a") == nil)
    #expect(fixture.logged("body-dropped").count == 1)
    #expect(
      try TestDirectory.contents(fixture.directory.path + "/cache/elsewhere").count == 3 * mebibyte + mebibyte / 2)
  }

  @Test("a row without its segments holds nothing", arguments: [false, true])
  func missingSegments(_ all: Bool) throws {
    let fixture = try reopened { _, directory in
      let database = try Database(path: directory + "/catalogue.sqlite", isReader: false)
      try database.execute("DELETE FROM segments" + (all ? "" : " WHERE offset = 1048576"))
    }
    let response = try fixture.first("/a")
    if all {
      #expect(response == nil)
      #expect(fixture.logged("body-dropped").count == 1)
    } else {
      #expect(try fixture.readAll(#require(response).body) == Array(pattern(mebibyte)))
      #expect(response?.body.isComplete == false)
    }
  }

  @Test(
    "rows that pawl did not write are not believed",
    arguments: [
      "UPDATE segments SET length = 2000000", "UPDATE segments SET length = -5", "UPDATE segments SET xxh3 = xxh3 + 1",
      "UPDATE segments SET offset = offset + 1", "UPDATE objects SET head = x'00'", "UPDATE objects SET head = x''",
      "UPDATE objects SET total = 5", "UPDATE objects SET total = -1", "UPDATE objects SET kind = 7",
      "UPDATE objects SET id = x'0102'", "UPDATE objects SET key = x'00'",
      "UPDATE segments SET offset = 9223372036854775807 WHERE offset = 0",
    ])
  func foreignRows(_ sql: String) throws {
    let fixture = try reopened { _, directory in
      try Database(path: directory + "/catalogue.sqlite", isReader: false).execute(sql)
    }
    if let response = try fixture.first("/a") {
      let bytes = try fixture.readAll(response.body)
      #expect(bytes == Array(pattern(3 * mebibyte + mebibyte / 2).prefix(bytes.count)))
    }
    try fixture.settle()
    try fixture.store("/b", pattern(10))
    #expect(try fixture.readAll(#require(try fixture.first("/b")).body) == pattern(10))
  }

  @Test("a small body comes into memory on its first use, verified")
  func memory() throws {
    let fixture = try reopened(1000) { _, _ in }
    let response = try #require(try fixture.first("/a"))
    #expect(response.body.inMemory == nil)
    fixture.store.noteUse(response)
    try fixture.settle()
    #expect(response.body.inMemory == pattern(1000))
    #expect(response.body.availability(at: 10) == .bytes(until: 1000))
    #expect(fixture.store.statistics.memoryBytes == 1000)
  }

  @Test("a corrupt small body never comes into memory")
  func corruptMemory() throws {
    let fixture = try reopened(1000) { path, _ in try flip(path, at: 999) }
    fixture.store.noteUse(try #require(try fixture.first("/a")))
    try fixture.settle()
    #expect(try fixture.first("/a") == nil)
    #expect(fixture.logged("body-dropped").count == 1)
    #expect(fixture.store.statistics.memoryBytes == 0)
  }

  @Test(
    "a body of exactly memory-object is kept in memory, one byte more is not", arguments: [(512, true), (513, false)])
  func memoryLimit(_ size: Int, _ isKept: Bool) throws {
    let fixture = try StoreFixture { $0.memoryObject = 512 }
    let response = try fixture.store("/a", pattern(size))
    try fixture.settle()
    #expect((response.body.inMemory != nil) == isKept)
  }

  @Test("many readers that check the same place at once all hear of it")
  func manyChecks() throws {
    let fixture = try reopened { _, _ in }
    let body = try #require(try fixture.first("/a")).body
    let outcomes: [CheckOutcome] = try fixture.result { done in
      var outcomes: [CheckOutcome] = []
      for index in 0..<20 {
        body.check(at: UInt64(index * 100), on: fixture.loop) { outcome in
          outcomes.append(outcome)
          if outcomes.count == 20 { done(outcomes) }
        }
      }
    }
    #expect(outcomes == Array(repeating: .checked, count: 20))
    #expect(body.availability(at: 0) != .checking)
  }

  @Test("the files of idle bodies are closed beyond the limit, and open again when wanted")
  func idleFiles() throws {
    let fixture = try StoreFixture { ($0.openBodies, $0.memory) = (8, 0) }
    for index in 0..<40 { try fixture.store("/\(index)", pattern(2000, seed: UInt64(index))) }
    fixture.store.core.durability.syncAll(fixture.store.core)
    try fixture.settle()
    fixture.store.core.openBodies.trim()
    for index in 0..<40 {
      let body = try #require(try fixture.first("/\(index)")).body
      if index == 3 { body.readerMoved(token: ObjectIdentifier(fixture), position: 0) }
      #expect(try fixture.readAll(body) == pattern(2000, seed: UInt64(index)))
    }
    #expect(fixture.store.statistics.openBodies <= 9)
    #expect(try #require(try fixture.first("/3")).body.availability(at: 0) == .bytes(until: 2000))
    #expect(try #require(try fixture.first("/4")).body.availability(at: 0) == .checking)
  }
}
