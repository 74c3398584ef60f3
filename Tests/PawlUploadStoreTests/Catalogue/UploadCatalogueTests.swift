import CLinux
import PawlDisk
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("The spool's catalogue") struct UploadCatalogueTests {
  @Test("rows are read back as they were written")
  func rows() throws {
    let fixture = try UploadFixture()
    let database = try Database(path: UploadCatalogue.path(in: fixture.directory.path + "/spool"), isReader: false)
    var row = UploadRow(at: 7, phase: .unknown)
    (row.offset, row.verifying, row.length, row.finalAt) = (1, 2, 3, 4)
    (row.credentials, row.attempts, row.lastError, row.nextAttempt) = ([9], 5, "why", 6)
    (row.giveUpAt, row.answerUntil, row.originStatus, row.isAnswerDelivered, row.expires) = (8, 9, 200, true, 10)
    let (full, plain) = (ObjectID(high: 1, low: 1), ObjectID(high: 2, low: 2))
    try UploadChange.insert(UploadEntry(id: full, origin: fixture.origin(), createdAt: 1, row: row)).apply(to: database)
    try UploadChange.insert(
      UploadEntry(id: plain, origin: fixture.origin(), createdAt: 2, row: UploadRow(at: 3))
    ).apply(to: database)
    var found: [UploadCatalogue.Recorded] = []
    try UploadCatalogue.forEach(database) { found.append($0) }
    #expect(found.map(\.id) == [full, plain])
    #expect(found.map(\.row) == [row, UploadRow(at: 3)])
    #expect(found.map(\.origin) == [fixture.origin(), fixture.origin()])
    try UploadChange.strip(full).apply(to: database)
    try UploadChange.forget(plain).apply(to: database)
    found = []
    try UploadCatalogue.forEach(database) { found.append($0) }
    #expect(found.map(\.origin) == [nil])
    #expect(found.first?.row.credentials == nil)
  }

  @Test("changes that wait for room on the disk do not pile up")
  func compacts() {
    let (a, b) = (ObjectID(high: 1, low: 1), ObjectID(high: 2, low: 2))
    func update(_ id: ObjectID, _ time: Int64) -> UploadChange { .update(id, UploadRow(at: time)) }
    let changes = (0..<1000).flatMap { [update(a, $0), update(b, $0), .meta("m", $0)] }
    var later: Set<RowSubject> = []
    let compacted = UploadChanges(list: changes).compacted(before: &later).list
    #expect(compacted.count == 1002)
    let rows = compacted.compactMap { change in if case .update(_, let row) = change { row.lastByteAt } else { nil } }
    #expect(rows == [999, 999])
  }
}
