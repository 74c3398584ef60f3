import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Coded forms in the store") struct CodedFormsTests {
  /// Puts a form beside a stored body; nil where that is refused.
  @discardableResult
  private func add(
    _ fixture: StoreFixture, _ base: StoredResponse, _ coding: ContentCoding, _ bytes: [UInt8], tag: String,
    isWhole: Bool = true
  ) throws -> StoredBody? {
    let body = try fixture.body()
    let form = CodedForm(coding: coding, body: body)
    guard fixture.store.publishForm(form, of: base, tag: Array("pawl-\(tag)".utf8)) else { return nil }
    try body.write(bytes)
    if isWhole {
      body.setTotal(UInt64(bytes.count))
      #expect(body.complete())
    } else {
      body.fillPaused()
    }
    fixture.store.flush()
    return body
  }

  private func names(_ body: StoredBody?) -> [String] {
    (body?.tags ?? []).map { String(decoding: $0.tag, as: UTF8.self) }
  }

  private func count(_ fixture: StoreFixture) throws -> Int {
    try fixture.store.core.reader.objects(keyHash: try fixture.resource("/a").hash).count
  }

  @Test("is found beside its body, with its tag, also after the store was opened again; nobody finds it by itself")
  func reopened() throws {
    let fixture = try StoreFixture()
    let base = try fixture.store("/a", pattern(5000))
    try add(fixture, base, .gzip, pattern(900), tag: "g")
    try add(fixture, base, .zstd, pattern(800), tag: "z")
    #expect(try add(fixture, base, .gzip, pattern(10), tag: "x") == nil)
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    let stored = try #require(try again.first("/a"))
    #expect(try again.resource("/a").withLock { Array($0.variants).count } == 1)
    #expect(Set(stored.body.forms.map(\.coding)) == [.gzip, .zstd])
    let form = try #require(stored.body.form(in: .gzip))
    #expect(form.isComplete && form.isForm && form.isSteady && names(form) == ["pawl-g"])
    #expect(try again.readAll(form) == pattern(900))
  }

  @Test(
    "one that was cut off goes on after a start where it can be made again as it was",
    arguments: [(true, 900, true), (true, 0, false), (false, 900, false)])
  func cut(_ baseIsWhole: Bool, _ held: Int, _ isKept: Bool) throws {
    let fixture = try StoreFixture()
    let base = try fixture.store("/a", pattern(4000), total: baseIsWhole ? 4000 : 5000)
    try add(fixture, base, .gzip, pattern(held), tag: "g", isWhole: false)
    fixture.store.close()
    let again = try StoreFixture(in: fixture.directory)
    let form = try #require(try again.first("/a")).body.form(in: .gzip)
    #expect((form != nil) == isKept)
    if isKept { #expect(form?.isComplete == false && form?.held.prefix == UInt64(held) && names(form) == ["pawl-g"]) }
  }

  @Test("goes with its body: forgotten, replaced, or evicted")
  func gone() throws {
    let fixture = try StoreFixture()
    let base = try fixture.store("/a", pattern(5000))
    let form = try #require(try add(fixture, base, .gzip, pattern(900), tag: "g"))
    let path = fixture.path(of: form)
    fixture.store.forget(base)
    try fixture.settle()
    let left = try count(fixture)
    #expect(left == 0 && !Files.exists(path))
    #expect(base.body.forms.isEmpty)
    let other = CodedForm(coding: .zstd, body: try fixture.body())
    #expect(!fixture.store.publishForm(other, of: base, tag: Array("pawl-z".utf8)))
  }

  @Test("a row whose body is not there goes at load")
  func orphan() throws {
    let fixture = try StoreFixture()
    let base = try fixture.store("/a", pattern(5000))
    try add(fixture, base, .gzip, pattern(900), tag: "g")
    fixture.store.close()
    let database = try Database(path: fixture.directory.path + "/cache/catalogue.sqlite", isReader: false)
    try database.execute("DELETE FROM objects WHERE kind = 0")
    let again = try StoreFixture(in: fixture.directory)
    #expect(try again.first("/a") == nil)
    try again.settle()
    #expect(try count(again) == 0)
  }

  @Test("of a body that is proven to be the same as a new one they are the new one's, with their tags")
  func moved() throws {
    let fixture = try StoreFixture()
    let old = try fixture.store("/a", pattern(5000))
    let form = try #require(try add(fixture, old, .gzip, pattern(900), tag: "g"))
    let cut = try #require(try add(fixture, old, .brotli, pattern(100), tag: "b", isWhole: false))
    let new = try fixture.store("/b", pattern(5000))
    fixture.store.moveForms(of: old.body, to: new.body)
    #expect(new.body.forms.map(\.coding) == [.gzip] && new.body.form(in: .gzip) === form)
    #expect(old.body.forms.map(\.coding) == [.brotli] && old.body.form(in: .brotli) === cut)
    fixture.store.forget(old)
    try fixture.settle()
    #expect(form.failure == nil && form.isForm && names(form) == ["pawl-g"])
  }

  @Test(
    "where the new one has one of that coding, it takes the tags if it is whole and has the same bytes",
    arguments: [(900, true, ["pawl-n", "pawl-o"]), (901, true, ["pawl-n"]), (900, false, ["pawl-n"])])
  func united(_ count: Int, _ isWhole: Bool, _ tags: [String]) throws {
    let fixture = try StoreFixture()
    let old = try fixture.store("/a", pattern(5000))
    try add(fixture, old, .gzip, pattern(900), tag: "o")
    let new = try fixture.store("/b", pattern(5000))
    let form = try add(fixture, new, .gzip, pattern(count), tag: "n", isWhole: isWhole)
    // A client has been told it.
    _ = form?.primaryTag
    fixture.store.moveForms(of: old.body, to: new.body)
    #expect(new.body.form(in: .gzip) === form)
    let _: Bool = try fixture.result { done in
      let reply = LoopReply(on: fixture.loop, done)
      fixture.store.uniteForms(of: old.body, with: new.body) { reply.send(true) }
    }
    #expect(names(form).sorted() == tags)
  }
}
