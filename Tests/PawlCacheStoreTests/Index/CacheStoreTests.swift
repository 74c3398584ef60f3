import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Cache store") struct CacheStoreTests {
  @Test("keeps a second process out, and lets it in afterwards")
  func locks() throws {
    let fixture = try StoreFixture()
    #expect(throws: StoreError.inUse(path: fixture.directory.path + "/cache")) {
      try StoreFixture(in: fixture.directory)
    }
    fixture.store.close()
    _ = try StoreFixture(in: fixture.directory)
  }

  @Test(
    "handed over: the other process has all that was written, and nothing is written, made or removed here any more")
  func handsOver() throws {
    let old = try StoreFixture()
    let bytes = pattern(3_000_000)
    let response = try old.store("/part", Array(bytes.prefix(2_000_000)), total: 3_000_000)
    let body = response.body
    let path = old.path(of: body)
    old.store.handOver()
    let new = try StoreFixture(in: old.directory)
    #expect(new.logged("cache-opened").first?.contains("clean=yes") == true)
    let taken = try #require(try new.first("/part"))
    #expect(taken.body.held.prefix == 2_000_000)
    // The download that runs in the old process goes on through memory.
    #expect(throws: StoreError.handedOver) { try body.write(Array(bytes[2_000_000..<2_100_000]), at: 2_000_000) }
    #expect(body.beginStreaming())
    try body.write(Array(bytes[2_000_000..<2_100_000]), at: 2_000_000)
    var held = [UInt8](repeating: 0, count: 2_000_000)
    #expect(held.withUnsafeMutableBytes { body.read(0..<2_000_000, into: $0) } == 2_000_000)
    #expect(held == Array(bytes.prefix(2_000_000)))
    #expect(body.windowBytes(at: 2_000_000, limit: 10) == Array(bytes[2_000_000..<2_000_010]))
    // The new one writes the rest into the same file, and the old one does not mistake that for damage.
    try taken.body.write(Array(bytes[2_000_000...]), at: 2_000_000)
    #expect(taken.body.complete())
    try body.write(Array(bytes[2_100_000..<2_200_000]), at: 2_100_000)
    #expect(held.withUnsafeMutableBytes { body.read(0..<2_000_000, into: $0) } == 2_000_000)
    #expect(held == Array(bytes.prefix(2_000_000)))
    // What fails here stays there.
    body.fail(.origin("connection_terminated"))
    #expect(access(path, F_OK) == 0)
    #expect(try new.readAll(taken.body) == bytes)
    let made: StoredBody? = try old.result { done in
      old.store.createBody(expected: 1 << 20, total: 1 << 20, on: old.loop, done)
    }
    #expect(made == nil)
  }

  @Test("makes files 0600 and directories 0700")
  func modes() throws {
    let fixture = try StoreFixture()
    let response = try fixture.store("/a", pattern(10))
    var status = stat()
    let path = fixture.directory.path + "/cache"
    for file in [fixture.path(of: response.body), path + "/catalogue.sqlite", path + "/catalogue.sqlite-wal"] {
      #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(file)")
    }
    for folder in [path, path + "/bodies", path + "/bodies/00"] {
      #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700, "\(folder)")
    }
  }

  @Test(
    "gives back what it was given after a clean end",
    arguments: [0, 1, 4095, 1 << 20, (1 << 20) + 1, 3_500_000])
  func reopens(_ size: Int) throws {
    let directory = TestDirectory()
    let bytes = pattern(size)
    do {
      let fixture = try StoreFixture(in: directory)
      try fixture.store("/a", bytes, tag: "tag", fields: [(.contentType, "text/plain"), (.etag, "\"o\"")])
    }
    let fixture = try StoreFixture(in: directory)
    #expect(fixture.logged("cache-opened").first?.contains("objects=1") == true)
    #expect(fixture.logged("cache-opened").first?.contains("clean=yes") == true)
    let response = try #require(try fixture.first("/a"))
    #expect(response.head == fixture.head([(.contentType, "text/plain"), (.etag, "\"o\"")]))
    #expect(response.body.total == UInt64(size))
    #expect(response.body.isComplete)
    #expect(response.body.primaryTag == Array("tag".utf8))
    #expect(response.body.tagLimit(Array("tag".utf8)) == .max)
    #expect(response.body.availability(at: 0) == (size == 0 ? .ended : .checking))
    #expect(try fixture.readAll(response.body) == bytes)
    #expect(fixture.store.usedBytes == UInt64(size) + DiskBudget.objectOverhead)
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("gives back what was recorded after kill -9, incomplete bodies too")
  func survivesKill() throws {
    let fixture = try StoreFixture()
    let bytes = pattern(5_000_000)
    try fixture.store("/whole", bytes)
    try fixture.store("/part", Array(bytes.prefix(2_500_000)), total: 5_000_000)
    let copy = try StoreFixture(in: try fixture.directory.copy())
    #expect(copy.logged("cache-opened").first?.contains("clean=no") == true)
    let whole = try #require(try copy.first("/whole"))
    #expect(whole.body.isComplete)
    #expect(try copy.readAll(whole.body) == bytes)
    let part = try #require(try copy.first("/part"))
    #expect(!part.body.isComplete)
    #expect(part.body.held.prefix == 2_500_000)
    #expect(try copy.readAll(part.body) == Array(bytes.prefix(2_500_000)))
    #expect(part.body.availability(at: 2_500_000) == .missing)
    try part.body.write(Array(bytes[2_500_000...]), at: 2_500_000)
    #expect(part.body.complete())
    #expect(try copy.readAll(part.body) == bytes)
    copy.store.close()
    let again = try StoreFixture(in: copy.directory)
    #expect(try again.readAll(#require(try again.first("/part")).body) == bytes)
  }

  @Test("keeps replaced responses for resumption, sixteen at most, over a restart")
  func supersedes() throws {
    let directory = TestDirectory()
    var bodies: [[UInt8]] = []
    do {
      let fixture = try StoreFixture(in: directory)
      let resource = try fixture.resource("/a")
      for index in 0..<19 {
        let bytes = pattern(100, seed: UInt64(index + 1))
        bodies.append(bytes)
        let body = try fixture.body(total: 100)
        let old = resource.withLock { Array($0.variants) }
        let response = StoredResponse(head: fixture.head(), body: body, storedAt: 0)
        fixture.store.publish(response, in: resource, superseding: old)
        try body.write(bytes)
        #expect(body.complete())
        fixture.clock.advance(by: .seconds(1))
      }
      #expect(resource.withLock { $0.superseded.count } == 16)
      #expect(resource.withLock { $0.variants.count } == 1)
    }
    let fixture = try StoreFixture(in: directory)
    let resource = try #require(try fixture.loaded("/a"))
    let (variants, superseded) = resource.withLock { ($0.variants, $0.superseded) }
    #expect(variants.count == 1 && superseded.count == 16)
    #expect(try fixture.readAll(variants[0].body) == bodies[18])
    #expect(try superseded.map { try fixture.readAll($0.body) } == bodies[2..<18].reversed())
  }

  @Test("drops what is replaced: index, rows, file and budget; its readers keep their bytes")
  func replaces() throws {
    let fixture = try StoreFixture()
    let old = try fixture.store("/a", pattern(1000))
    let slice = old.body.slice(0..<1000)
    let path = fixture.path(of: old.body)
    let body = try fixture.body(total: 10)
    fixture.store.publish(
      StoredResponse(head: fixture.head(), body: body, storedAt: 0), in: try fixture.resource("/a"), replacing: [old])
    try body.write(pattern(10))
    #expect(body.complete())
    try fixture.settle()
    #expect(access(path, F_OK) != 0)
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(slice.fd, &bytes, 1000, 0) == 1000)
    #expect(bytes == pattern(1000))
    #expect(try fixture.store.core.reader.contains(old.id) == false)
  }

  @Test("forgets on demand")
  func forgets() throws {
    let fixture = try StoreFixture()
    let path = fixture.path(of: try fixture.store("/a", pattern(1000)).body)
    try fixture.store.forget(#require(try fixture.first("/a")))
    try fixture.settle()
    #expect(fixture.store.resource(for: fixture.key("/a"), create: false) == nil)
    #expect(access(path, F_OK) != 0)
    #expect(fixture.store.usedBytes == 0)
  }

  @Test("a 304's head takes the old one's place, on disk too")
  func updatesHead() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(in: directory)
      let response = try fixture.store("/a", pattern(5))
      let updated = fixture.store.updateHead(response, head: fixture.head([(.cacheControl, "max-age=9")]))
      #expect(updated.body === response.body)
      #expect(try fixture.first("/a") === updated)
    }
    let fixture = try StoreFixture(in: directory)
    #expect(try fixture.first("/a")?.head == fixture.head([(.cacheControl, "max-age=9")]))
  }

  @Test("finds private responses by their tag only, until they expire, over a restart")
  func privates() throws {
    let directory = TestDirectory()
    let (tag, owner) = (Array("p-1".utf8), Array("me".utf8))
    do {
      let fixture = try StoreFixture(in: directory)
      let body = try fixture.body(total: 7)
      let expires = fixture.clock.wallSeconds() + 60
      fixture.store.publishPrivate(
        StoredResponse(head: fixture.head(), body: body, storedAt: 0), tag: tag, owner: owner, expires: expires)
      try body.write(pattern(7))
      #expect(body.complete())
      #expect(fixture.store.privateResponse(tag: tag)?.personal?.owner == owner)
      #expect(fixture.store.privateResponse(tag: Array("p-2".utf8)) == nil)
    }
    let fixture = try StoreFixture(in: directory)
    do {
      let found: StoredResponse? = try fixture.result { fixture.store.findPrivate(tag: tag, on: fixture.loop, $0) }
      #expect(found?.personal?.owner == owner)
      #expect(try fixture.readAll(#require(found).body) == pattern(7))
    }
    fixture.clock.advanceWall(bySeconds: 59)
    #expect(fixture.store.privateResponse(tag: tag) != nil)
    fixture.clock.advanceWall(bySeconds: 1)
    #expect(fixture.store.privateResponse(tag: tag) == nil)
    try fixture.settle()
    #expect(fixture.store.usedBytes == 0)
  }

  @Test("moves a corrupt catalogue aside and begins empty", arguments: ["corrupt", "version", "foreign", "marked"])
  func movesAside(_ how: String) throws {
    let directory = TestDirectory()
    do { try StoreFixture(in: directory).store("/a", pattern(100)) }
    let path = directory.path + "/cache/catalogue.sqlite"
    switch how {
    case "corrupt": try TestDirectory.write(pattern(8192), to: path)
    case "version": try Database(path: path, isReader: false).execute("PRAGMA user_version = 99")
    case "foreign": try Database(path: path, isReader: false).execute("PRAGMA application_id = 7")
    default: try TestDirectory.write([], to: directory.path + "/cache/catalogue.broken")
    }
    let fixture = try StoreFixture(in: directory)
    #expect(fixture.logged("catalogue-moved-aside").count == 1)
    #expect(access(path + ".bad-1", F_OK) == 0)
    #expect(try fixture.first("/a") == nil)
    try fixture.store("/b", pattern(10))
    try fixture.settle()
    #expect(fixture.logged("body-dropped").filter { $0.contains("the catalogue has no row for it") }.count == 1)
    #expect(try fixture.readAll(#require(try fixture.first("/b")).body) == pattern(10))
  }
}
