import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Objects in packs") struct PackedObjectTests {
  private func targets(_ count: Int) -> [String] { (0..<count).map { "/\($0)" } }

  private func forms(_ response: StoredResponse, _ fixture: StoreFixture) throws -> StoredBody {
    let body = try fixture.body(total: nil)
    #expect(
      fixture.store.publishForm(CodedForm(coding: .gzip, body: body), of: response, tag: Array("form".utf8)))
    try body.write(pattern(300, seed: 9))
    body.setTotal(300)
    #expect(body.complete())
    return body
  }

  @Test("what is loaded at once is what is loaded from the disk", arguments: [true, false])
  func loads(atOnce: Bool) throws {
    let before = try StoreFixture(packingIn: TestDirectory())
    let response = try before.store("/a", pattern(5000), fields: [(.contentType, "text/plain")])
    response.body.addTag(TagRecord(tag: Array("alias".utf8), limit: 4))
    let form = try forms(response, before)
    try before.settle()
    let fixture = try StoreFixture(packingIn: try before.directory.copy())
    let resource = try #require(fixture.store.resource(for: fixture.key("/a"), create: false))
    #expect(resource.withLock { !$0.isLoaded })
    if atOnce {
      fixture.store.loadAtOnce(resource)
      #expect(resource.withLock { $0.isLoaded })
    } else {
      _ = try fixture.loaded("/a")
    }
    let found = try #require(resource.withLock { $0.variants.only })
    #expect((found.body.number, found.body.id) == (response.body.number, response.body.id))
    #expect(found.head.serialize() == response.head.serialize())
    #expect((found.storedAt, found.body.isComplete) == (response.storedAt, true))
    #expect(found.body.tagLimit(Array("alias".utf8)) == 4)
    #expect(try fixture.readAll(found.body) == pattern(5000))
    let loadedForm = try #require(found.body.form(in: .gzip))
    #expect(loadedForm.number == form.number)
    #expect(loadedForm.isForm)
    #expect(try fixture.readAll(loadedForm) == pattern(300, seed: 9))
  }

  @Test("a form goes with the body that it was made of, and nothing of it comes back")
  func forms() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let response = try fixture.store("/a", pattern(5000))
    _ = try forms(response, fixture)
    fixture.store.forget(response)
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try copy.first("/a") == nil)
    #expect(copy.store.core.packs?.all.isEmpty == true)
  }

  @Test("two who load the same at once find one body")
  func loadsTwice() throws {
    let before = try StoreFixture(packingIn: TestDirectory())
    for target in targets(50) { try before.store(target, pattern(1000)) }
    let fixture = try StoreFixture(packingIn: try before.directory.copy())
    for target in targets(50) {
      let resource = try #require(fixture.store.resource(for: fixture.key(target), create: false))
      let store = fixture.store
      for _ in 0..<2 { fixture.pool.run { store.loadAtOnce(resource) } }
      let _: Bool = try fixture.result { done in fixture.store.load(resource, on: fixture.loop) { done(true) } }
      #expect(resource.withLock { $0.responses.count } == 1)
    }
    try fixture.settle()
    for target in targets(50) { #expect(try fixture.loaded(target)?.withLock { $0.responses.count } == 1) }
  }

  @Test("a cache of the version before is carried over: what it has in files is found beside what comes into packs")
  func carriedOver() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(in: directory)
      try fixture.store("/a", pattern(5000), tag: "old")
      try fixture.store("/b", pattern(50))
    }
    TestDirectory.remove(directory.path + "/cache/packs")
    do {
      let fixture = try StoreFixture(packingIn: directory)
      #expect(try fixture.first("/a").map { try fixture.readAll($0.body) } == pattern(5000))
      let old = try #require(try fixture.first("/b"))
      try fixture.store("/b", pattern(60), superseding: [old])
      try fixture.store("/c", pattern(70))
    }
    // And what is in packs is given where nothing is packed any more.
    let fixture = try StoreFixture(in: directory)
    #expect(try fixture.first("/a").map { try fixture.readAll($0.body) } == pattern(5000))
    #expect(try fixture.first("/b").map { try fixture.readAll($0.body) } == pattern(60))
    #expect(try fixture.loaded("/b")?.withLock { $0.superseded.count } == 1)
    #expect(try fixture.first("/c").map { try fixture.readAll($0.body) } == pattern(70))
    let number = try #require(try fixture.first("/c")).body.number
    #expect(try fixture.store("/d", pattern(1)).body.number > number)
  }

  @Test(
    "a cache that is too small for packs keeps each body in a file",
    arguments: [(64 << 20, true), (64 << 20 - 64, false)])
  func smallCaches(maxSize: Int, isPacked: Bool) throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.maxSize = UInt64(maxSize) }
    let response = try fixture.store("/a", pattern(100))
    #expect((response.body.state.withLock { $0.place.packed } != nil) == isPacked)
  }

  @Test(
    "what is unloaded while somebody has it is one object still: what he changes is found, and what he drops is gone")
  func heldWhileUnloaded() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let (kept, gone) = (try fixture.store("/a", pattern(5000)), try fixture.store("/b", pattern(6000)))
    try fixture.settle()
    fixture.store.index.unload(beyond: 0, responses: 2, now: .max)
    kept.body.addTag(TagRecord(tag: Array("alias".utf8), limit: 4))
    fixture.store.forget(gone)
    try fixture.settle()
    for fixture in [fixture, try StoreFixture(packingIn: try fixture.directory.copy())] {
      let found = try #require(try fixture.first("/a"))
      #expect(found.body.tagLimit(Array("alias".utf8)) == 4)
      #expect(try fixture.readAll(found.body) == pattern(5000))
      #expect(try fixture.first("/b") == nil)
    }
  }

  @Test("what was loaded while another has the same record follows him where he moves it, and he it")
  func twoBodies() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let first = try fixture.store("/a", pattern(5000))
    try fixture.settle()
    fixture.store.index.unload(beyond: 0, responses: 1, now: .max)
    let second = try #require(try fixture.first("/a"))
    #expect(second.body !== first.body)
    first.body.addTag(TagRecord(tag: Array("one".utf8), limit: 1))
    try fixture.settle()
    second.body.addTag(TagRecord(tag: Array("two".utf8), limit: 2))
    try fixture.settle()
    first.body.addTag(TagRecord(tag: Array("three".utf8), limit: 3))
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let found = try #require(try copy.first("/a"))
    #expect(try copy.readAll(found.body) == pattern(5000))
    #expect(try copy.loaded("/a")?.withLock { $0.responses.count } == 1)
    #expect(found.body.tagLimit(Array("three".utf8)) == 3)
  }

  @Test(
    "whatever is stored, replaced, dropped, unloaded and begun anew, a cache finds what it should, as it is",
    arguments: 1...4)
  func model(seed: UInt64) throws {
    var model = try StoreModel(seed)
    for step in 0..<1500 { try model.step(step) }
    try model.fixture.settle()
    for number in 0..<300 { try model.check("/\(number)") }
    try model.begin()
    for number in 0..<300 { try model.check("/\(number)") }
  }
}

/// A cache beside what says in the plainest way what is to be found in it.
private struct StoreModel {
  var fixture: StoreFixture
  private var state: UInt64
  private var known: [String: [UInt8]] = [:]

  private static func change(_ settings: inout CacheStoreSettings) {
    (settings.loadedResources, settings.memory) = (64, 1 << 20)
  }

  init(_ seed: UInt64) throws {
    state = seed
    fixture = try StoreFixture(packingIn: TestDirectory(), change: Self.change)
  }

  private mutating func random(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }

  /// As after a kill.
  mutating func begin() throws {
    fixture = try StoreFixture(packingIn: try fixture.directory.copy(), change: Self.change)
  }

  func check(_ target: String) throws {
    let resource = try fixture.loaded(target)
    let current = resource?.withLock { Array($0.variants) } ?? []
    #expect(current.count == (known[target] == nil ? 0 : 1), "\(target)")
    for response in current { #expect(try fixture.readAll(response.body) == known[target], "\(target)") }
    if let resource { fixture.store.remove(resource) }
  }

  mutating func step(_ step: Int) throws {
    let target = "/\(random(300))"
    switch random(12) {
    case 0..<5: try store(target, step)
    case 5:
      guard let found = try fixture.first(target) else { return }
      fixture.store.forget(found)
      known[target] = nil
    case 6: try fixture.first(target)?.body.addTag(TagRecord(tag: Array("a\(step)".utf8)))
    case 7: if let found = try fixture.first(target) { _ = fixture.store.updateHead(found, head: fixture.head()) }
    case 8: fixture.store.index.unload(beyond: 8, responses: .max, now: .max)
    case 9: fixture.store.core.cleanPacks()
    case 10 where random(12) == 0:
      try fixture.settle()
      try begin()
    default: try check(target)
    }
  }

  private mutating func store(_ target: String, _ step: Int) throws {
    let bytes = pattern([0, 10, 3000, 70_000][random(4)], seed: UInt64(step))
    let old = try fixture.loaded(target)?.withLock { Array($0.variants) } ?? []
    let body = try fixture.body(expected: UInt64(bytes.count), total: UInt64(bytes.count))
    body.addTag(TagRecord(tag: Array("\(step)".utf8)))
    let response = StoredResponse(head: fixture.head(), body: body, storedAt: fixture.clock.wallSeconds())
    let isReplaced = random(2) == 0
    fixture.store.publish(
      response, in: try fixture.resource(target), replacing: isReplaced ? old : [], superseding: isReplaced ? [] : old)
    try body.write(bytes)
    #expect(body.complete())
    known[target] = bytes
  }
}
