import CLinux
import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import PawlTestKit
import Testing

@testable import PawlCacheStore

@Suite("Room in packs") struct PackCleaningTests {
  private static let size = 60_000

  /// A cache of 64 MiB, whose packs have 1 MiB.
  private func fixture(in directory: TestDirectory = TestDirectory(), loaded: Int = 64) throws -> StoreFixture {
    try StoreFixture(packingIn: directory) { settings in
      (settings.maxSize, settings.memory, settings.loadedResources) = (64 << 20, 0, loaded)
    }
  }

  private func target(_ number: Int) -> String { "/\(number)" }
  private func content(_ number: Int) -> [UInt8] { pattern(Self.size, seed: UInt64(number + 1)) }

  private func fill(_ fixture: StoreFixture, _ numbers: Range<Int>) throws {
    for number in numbers { try fixture.store(target(number), content(number)) }
  }

  private func isThere(_ fixture: StoreFixture, _ number: Int) throws -> Bool {
    guard let found = try fixture.first(target(number)) else { return false }
    #expect(try fixture.readAll(found.body) == content(number))
    return true
  }

  private func use(_ fixture: StoreFixture, _ number: Int) throws {
    guard let found = try fixture.first(target(number)) else { return }
    fixture.store.noteUse(found)
    fixture.store.noteUse(found)
  }

  private func firstPack(_ fixture: StoreFixture) throws -> Pack {
    let pack = fixture.store.core.packs?.all.first(where: \.isSealed)
    return try #require(pack)
  }

  /// The numbers of the objects that stand in a pack.
  private func numbers(_ fixture: StoreFixture, in pack: Pack) -> [Int] {
    var found: [Int] = []
    guard let packs = fixture.store.core.packs else { return [] }
    _ = packs.scan(pack, through: pack.size) { head, place in
      guard let key = packs.record(place)?.record.row.key, let slash = key.lastIndex(of: 0x2f) else { return }
      if let number = Int(String(decoding: key[(slash + 1)...], as: UTF8.self)) { found.append(number) }
    }
    return found
  }

  @Test("the pack that was written first goes as a whole, but for what was used since; nothing is lost or found twice")
  func secondChance() throws {
    let fixture = try fixture()
    try fill(fixture, 0..<100)
    let pack = try firstPack(fixture)
    let all = numbers(fixture, in: pack)
    let used = Set(all.prefix(5))
    for number in used { try use(fixture, number) }
    let before = fixture.store.usedBytes
    let freed = fixture.store.core.empty(pack, keepingAll: false)
    #expect(freed > 0)
    #expect(fixture.store.usedBytes < before)
    #expect(access(fixture.store.core.packs?.path(of: pack.number) ?? "", F_OK) != 0)
    for number in 0..<100 {
      // What is in memory, and was not used, may have gone or not; what was at rest has.
      if used.contains(number) { #expect(try isThere(fixture, number)) }
      if !all.contains(number) { #expect(try isThere(fixture, number)) }
    }
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    for number in used {
      #expect(try isThere(copy, number))
      #expect(try copy.loaded(target(number))?.withLock { $0.responses.count } == 1)
    }
  }

  @Test(
    "who was asked for only when he was stored goes with his pack, whether he is in memory still or not",
    arguments: [64, 8192])
  func usedOnce(loaded: Int) throws {
    let fixture = try fixture(loaded: loaded)
    for number in 0..<100 { fixture.store.noteUse(try fixture.store(target(number), content(number))) }
    let pack = try firstPack(fixture)
    let all = numbers(fixture, in: pack)
    let used = try #require(all.last)
    try use(fixture, used)
    #expect(fixture.store.core.empty(pack, keepingAll: false) > UInt64(pack.size - 2 * Self.size))
    for number in all { #expect(try isThere(fixture, number) == (number == used)) }
  }

  @Test("several who lack room together empty one pack where that is enough")
  func together() throws {
    let fixture = try fixture()
    let limit = (64 << 20) / Self.size
    var number = 0
    while fixture.store.core.packs?.all.filter(\.isSealed).count ?? 0 < 8 || number < limit / 2 {
      try fixture.store(target(number), content(number))
      number += 1
    }
    let room = (UInt64(64 << 20)) - fixture.store.usedBytes
    #expect(fixture.store.core.budget.reserve(room))
    let before = fixture.store.core.packs?.all.count ?? 0
    let core = fixture.store.core
    let threads = (0..<4).map { _ in TestThread { _ = core.reserveEvicting(60_000) } }
    for thread in threads { thread.join() }
    #expect(before - (core.packs?.all.count ?? 0) == 1)
  }

  @Test("on a full disk what stands in packs that are not full makes room, where nothing else does")
  func notFull() throws {
    let fixture = try fixture()
    for number in 0..<3 { try fixture.store(target(number), content(number)) }
    let core = fixture.store.core
    #expect(core.packs?.all.contains(where: \.isSealed) == false)
    core.budget.noteFree(CacheStore.leastFree)
    #expect(core.reserveEvicting(60_000))
    #expect(try fixture.first(target(0)) == nil)
    #expect(!core.reserveEvicting(60 << 20))
    // Said once, with how often.
    for _ in 0..<3 {
      let made: StoredBody? = try fixture.result { done in
        fixture.store.createBody(expected: nil, total: 60 << 20, on: fixture.loop) { done($0) }
      }
      #expect(made == nil)
    }
    #expect(fixture.logged("body-refused").count == 1)
    fixture.clock.advance(by: .seconds(60))
    let made: StoredBody? = try fixture.result { done in
      fixture.store.createBody(expected: nil, total: 60 << 20, on: fixture.loop) { done($0) }
    }
    #expect(made == nil)
    #expect(fixture.logged("body-refused").last?.contains("omitted=2") == true)
  }

  @Test("room is made again and again, whatever is in use: each new body finds its place")
  func progress() throws {
    let fixture = try fixture()
    let limit = (64 << 20) / Self.size
    for number in 0..<limit * 2 {
      try fixture.store(target(number), content(number))
      for recent in max(0, number - 3)..<number { try use(fixture, recent) }
    }
    #expect(fixture.store.usedBytes <= 64 << 20)
    #expect(fixture.store.statistics.evictions >= limit / 2)
    #expect(fixture.logged("body-refused").isEmpty)
    #expect(try isThere(fixture, limit * 2 - 1))
  }

  @Test("a pack goes where all of it is in use, too, and where the disk takes nothing: readers keep what they read")
  func allInUse() throws {
    let fixture = try fixture()
    try fill(fixture, 0..<100)
    let pack = try firstPack(fixture)
    let all = numbers(fixture, in: pack)
    let held = try all.map { number in try #require(try fixture.first(target(number))) }
    for response in held {
      response.body.readerMoved(token: ObjectIdentifier(response), position: 0)
      fixture.store.noteUse(response)
    }
    let open = fixture.store.core.packs?.all.filter { !$0.isSealed } ?? []
    func full(_ rest: ArraySlice<Pack>, _ body: () throws -> Void) throws {
      guard let first = rest.first else { return try body() }
      try first.whileFull { try full(rest.dropFirst(), body) }
    }
    try full(open[...]) {
      #expect(fixture.store.core.empty(pack, keepingAll: true) == 0)
      #expect(fixture.store.core.empty(pack, keepingAll: false) > 0)
    }
    for (number, response) in zip(all, held) { #expect(try fixture.readAll(response.body) == content(number)) }
    #expect(fixture.store.core.packs?.pack(pack.number) == nil)
  }

  @Test("a pack of which little counts is emptied, and all that counts stays")
  func sparse() throws {
    let fixture = try fixture()
    try fill(fixture, 0..<100)
    let pack = try firstPack(fixture)
    let all = numbers(fixture, in: pack)
    let kept = Set(all.prefix(all.count / 3))
    for number in all where !kept.contains(number) {
      let found = try #require(try fixture.first(target(number)))
      fixture.store.forget(found)
    }
    fixture.store.core.cleanPacks()
    #expect(fixture.store.core.packs?.pack(pack.number) == nil)
    for number in 0..<100 { #expect(try isThere(fixture, number) == (!all.contains(number) || kept.contains(number))) }
  }

  @Test("a full pack whose list says more than counts is counted after a start, and emptied where little does")
  func counted() throws {
    let first = try fixture()
    try fill(first, 0..<100)
    let pack = try firstPack(first)
    try first.settle()
    first.store.core.packs?.writeIndex(of: pack)
    let all = numbers(first, in: pack)
    let kept = Set(all.prefix(all.count / 3))
    for number in all where !kept.contains(number) {
      first.store.forget(try #require(try first.first(target(number))))
    }
    let second = try fixture(in: try first.directory.copy())
    let listed = try #require(second.store.core.packs?.pack(pack.number))
    #expect(!listed.isCounted && listed.live > listed.size / 2)
    second.store.core.cleanPacks()
    #expect(listed.isCounted && second.store.core.packs?.pack(pack.number) == nil)
    for number in 0..<100 { #expect(try isThere(second, number) == (!all.contains(number) || kept.contains(number))) }
  }

  @Test("what a killed process had begun to fill is gathered into one pack, in time")
  func restarts() throws {
    var directory = TestDirectory()
    for number in 0..<5 {
      let fixture = try fixture(in: directory)
      try fill(fixture, number * 3..<number * 3 + 3)
      directory = try fixture.directory.copy()
    }
    let fixture = try fixture(in: directory)
    for _ in 0..<30 { fixture.store.core.cleanPacks() }
    try fixture.settle()
    let sealed = fixture.store.core.packs?.all.count(where: \.isSealed)
    #expect(sealed == 0)
    for number in 0..<15 { #expect(try isThere(fixture, number)) }
  }

  @Test(
    "records that are moved while they are loaded, changed and dropped are found once, as they are", arguments: 0..<6)
  func races(round: Int) throws {
    let fixture = try fixture()
    try fill(fixture, 0..<80)
    let pack = try firstPack(fixture)
    let all = numbers(fixture, in: pack)
    let core = fixture.store.core
    let isEmptied = Gate()
    fixture.pool.run {
      _ = core.empty(pack, keepingAll: true)
      isEmptied.open()
    }
    var dropped: Set<Int> = []
    for number in all {
      guard let found = try fixture.first(target(number)) else { continue }
      switch (number + round) % 4 {
      case 0: found.body.addTag(TagRecord(tag: Array("alias".utf8), limit: UInt64(number)))
      case 1:
        fixture.store.forget(found)
        dropped.insert(number)
      case 2: fixture.store.supersede(found, in: try fixture.resource(target(number)))
      default: break
      }
    }
    #expect(isEmptied.wait())
    try fixture.settle()
    func check(_ fixture: StoreFixture) throws {
      for number in all {
        let responses = try fixture.loaded(target(number))?.withLock { $0.responses } ?? []
        #expect(responses.count == (dropped.contains(number) ? 0 : 1), "\(number)")
        for response in responses {
          #expect(try fixture.readAll(response.body) == content(number))
          if (number + round) % 4 == 0 { #expect(response.body.tagLimit(Array("alias".utf8)) == UInt64(number)) }
          #expect((response.supersededAt != nil) == ((number + round) % 4 == 2))
        }
      }
    }
    try check(fixture)
    try check(try StoreFixture(packingIn: try fixture.directory.copy()))
  }

  @Test("what was moved and then removed stays away, though the pack that it was in could not be emptied")
  func movedAndRemoved() throws {
    let first = try fixture()
    try fill(first, 0..<80)
    let all = numbers(first, in: try firstPack(first))
    let fixture = try fixture(in: try first.directory.copy())
    let pack = try #require(fixture.store.core.packs?.all.first)
    // The record of the last one is being changed, so that it stays where it is.
    let (last, gone) = (try #require(all.last), all[0])
    let busy = try #require(try fixture.first(target(last)))
    busy.body.state.withLock { $0.isEditing = true }
    #expect(fixture.store.core.empty(pack, keepingAll: true) == 0)
    fixture.store.forget(try #require(try fixture.first(target(gone))))
    try fixture.settle()
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    #expect(try !isThere(copy, gone) && isThere(copy, all[1]) && isThere(copy, last))
  }

  @Test("a record of which a kill has left two is the later one, and there is one after that")
  func twice() throws {
    let fixture = try fixture()
    let old = try fixture.store("/1", content(1))
    let place = try #require(old.body.state.withLock { $0.place.packed })
    let rewritten = fixture.store.core.packs?.rewritten(place, [.superseded(old.body.number, at: 77)])
    _ = fixture.store.core.packs?.append(try #require(rewritten))
    for _ in 0..<2 {
      let copy = try StoreFixture(packingIn: try fixture.directory.copy())
      let resource = try #require(try copy.loaded("/1"))
      #expect(resource.withLock { $0.variants.isEmpty && $0.superseded.count == 1 })
      #expect(copy.store.core.packs?.all.reduce(0) { $0 + $1.live } ?? 0 < 2 * place.size)
    }
  }

  @Test("what lies below a path that is out of date goes from the packs when the path is forgotten")
  func outdatedTrees() throws {
    let fixture = try fixture()
    try fixture.store("/old/1", pattern(100))
    try fixture.store("/other/1", pattern(100))
    // At rest when it goes out of date.
    let copy = try StoreFixture(packingIn: try fixture.directory.copy())
    let _: Bool = try copy.result { done in
      copy.store.forgetAll(below: copy.key("/old/"), on: copy.loop) { done(true) }
    }
    for number in 0...OutdatedTrees.limit {
      let _: Bool = try copy.result { done in
        copy.store.forgetAll(below: copy.key("/none/\(number)/"), on: copy.loop) { done(true) }
      }
    }
    try copy.settle()
    #expect(!copy.store.core.trees.covers(copy.key("/old/1").bytes, number: 1))
    #expect(try copy.first("/old/1") == nil)
    #expect(try copy.first("/other/1") != nil)
    let again = try StoreFixture(packingIn: try copy.directory.copy())
    #expect(try again.first("/old/1") == nil)
  }
}
