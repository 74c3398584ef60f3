import PawlDisk
import PawlHTTP
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("What is kept of uploads besides their bytes") struct UploadRecordTests {
  private func fixture(_ change: (inout UploadStoreSettings) -> Void = { _ in }) throws -> UploadFixture {
    try UploadFixture { settings in
      settings.countsRecords = true
      change(&settings)
    }
  }

  private func origin(_ client: String, metadata: Int = 0) -> UploadOrigin {
    let head = RequestHead(method: .post, target: Bytes("/f"), authority: Bytes("a"))
    return UploadOrigin(
      head: head, client: Array(client.utf8), isTus: true, metadata: [UInt8](repeating: 0x61, count: metadata))
  }

  @Test("counts for its client and the spool from the beginning, less once it is over, nothing once it is gone")
  func life() throws {
    let fixture = try fixture()
    let upload = try fixture.completed([1, 2, 3], origin("me", metadata: 1000))
    let begun = fixture.store.recordBytes
    #expect(begun > 1000 + UploadRecord.file && fixture.store.usedBytes == 3)
    var fields = Fields()
    fields.append(.cookie, String(repeating: "a", count: 500))
    upload.refreshCredentials(fields)
    #expect(fixture.store.recordBytes >= begun + 500)
    try fixture.answer(upload, body: pattern(2000))
    let answered = fixture.store.recordBytes
    #expect(answered > 3000 && answered < 3000 + UploadRecord.file && fixture.store.usedBytes == 0)
    #expect(fixture.store.core.budget.disk.used == answered)
    let next = try UploadFixture(in: fixture.directory.copy(), boot: UploadFixture.boot, clock: fixture.clock) {
      $0.countsRecords = true
    }
    #expect(next.store.recordBytes == answered)
    for fixture in [fixture, next] {
      let upload = try fixture.found(upload)
      #expect(try fixture.step { upload.remove(on: $0, then: $1) })
      #expect(fixture.store.recordBytes == 0 && fixture.store.core.budget.disk.used == 0)
    }
  }

  @Test("uploads without bytes fill their client's share, and nobody else's")
  func share() throws {
    let fixture = try fixture { ($0.maxSize, $0.maxSharePerClient) = (1 << 20, 10) }
    var count: UInt64 = 0
    while case .success(let upload) = try fixture.tryCreate(.make(), origin("me"), length: 0), count < 1000 {
      count += 1
      try fixture.writer(upload).detach()
      #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    }
    #expect(count > 10 && count * UploadRecord.file <= (1 << 20) / 10)
    #expect(try fixture.tryCreate(.make(), origin("me"), length: 0).refusal == .clientShare)
    #expect(try fixture.tryCreate(.make(), origin("you"), length: 90_000).refusal == nil)
  }

  @Test("answers take half of their client's share at the most: the oldest go first")
  func trimmed() throws {
    let fixture = try fixture { ($0.maxSize, $0.maxSharePerClient) = (1 << 20, 25) }
    let other = try fixture.completed([1], origin("you"))
    try fixture.answer(other, body: pattern(50_000))
    var mine: [SpooledUpload] = []
    for _ in 0..<4 {
      mine.append(try fixture.completed([1], origin("me")))
      try fixture.answer(mine[mine.count - 1], body: pattern(50_000))
      fixture.clock.advance(by: .seconds(1))
    }
    try fixture.sweep()
    #expect(mine.map { fixture.store.find($0.id) != nil } == [false, false, true, true])
    #expect(fixture.store.find(other.id) != nil)
  }

  @Test("what answered uploads were asked with takes no more memory than it may, of one client a quarter of it")
  func memory() throws {
    let fixture = try fixture { $0.maxAnsweredMemory = 80_000 }
    let other = try fixture.completed([1], origin("you", metadata: 10_000))
    try fixture.answer(other)
    var mine: [SpooledUpload] = []
    for _ in 0..<3 {
      mine.append(try fixture.completed([1], origin("me", metadata: 9_000)))
      try fixture.answer(mine[mine.count - 1])
      fixture.clock.advance(by: .seconds(1))
    }
    try fixture.sweep()
    #expect(mine.map { fixture.store.find($0.id) != nil } == [false, true, true])
    #expect(fixture.store.find(other.id) != nil)
  }

  @Test("credentials become much longer only where there is room for them")
  func credentials() throws {
    let fixture = try fixture { ($0.maxSize, $0.maxSharePerClient) = (100_000, 10) }
    let upload = try fixture.create(origin("me"), length: 1)
    for (count, isTaken) in [(3000, true), (9000, false), (3500, true)] {
      var fields = Fields()
      fields.append(.cookie, String(repeating: "a", count: count))
      upload.refreshCredentials(fields)
      #expect((upload.credentials == fields) == isTaken)
    }
  }

  @Test("of an upload that is over the catalogue does not keep the fields of its request either")
  func slim() throws {
    let fixture = try fixture()
    var origin = origin("me")
    origin.head.fields.append(.cookie, String(repeating: "a", count: 9000))
    let upload = try fixture.completed([1], origin)
    try fixture.answer(upload)
    fixture.store.flush()
    let reader = try Database(path: UploadCatalogue.path(in: fixture.directory.path + "/spool"), isReader: true)
    var sizes: [Int] = []
    try UploadCatalogue.forEach(reader) { sizes.append($0.origin?.serialize().count ?? 0) }
    #expect(sizes.count == 1 && sizes[0] < 1000)
  }
}

extension UploadStore.Created {
  /// Why there is none.
  var refusal: UploadStoreRefusal? {
    if case .failure(let refusal) = self { refusal } else { nil }
  }
}
