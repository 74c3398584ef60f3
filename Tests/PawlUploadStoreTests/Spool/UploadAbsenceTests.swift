import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("The time in which pawl was not there") struct UploadAbsenceTests {
  @Test("what is to be given up, or asked for, within a time has that while pawl is there", arguments: [true, false])
  func counts(isKilled: Bool) throws {
    let fixture = try UploadFixture()
    let (upload, answered) = (try fixture.completed([1]), try fixture.completed([2]))
    upload.giveUpAt = fixture.clock.wallSeconds() + 100
    try fixture.answer(answered, keepFor: .seconds(50))
    try fixture.settle()
    fixture.clock.advance(by: .seconds(40))
    fixture.store.core.noteAlive()
    if !isKilled {
      fixture.clock.advance(by: .seconds(5))
      fixture.store.close()
    }
    fixture.clock.advance(by: .seconds(100_000))
    let again = try fixture.killed()
    let (left, leftOfAnswer): (Int64, Int64) = isKilled ? (60, 10) : (55, 5)
    #expect(try again.found(upload).giveUpAt == again.clock.wallSeconds() + left)
    #expect(try again.found(answered).status.expires == again.clock.wallSeconds() + leftOfAnswer)
    try again.sweep()
    #expect(try again.found(upload).status.phase == .complete && again.found(answered).status.phase == .answered)
    // Recorded as it is told, and not put off once more.
    let third = try again.killed()
    #expect(try third.found(upload).giveUpAt == third.clock.wallSeconds() + left)
    again.clock.advance(by: .seconds(left))
    try again.sweep()
    #expect(again.store.find(upload.id) == nil && again.store.find(answered.id) == nil)
  }

  @Test("a spool that says nothing, and a clock that was set back, put nothing off")
  func unknown() throws {
    let directory = TestDirectory()
    #expect(UploadAbsence.length(in: directory.path, now: 1_000_000) == 0)
    try UploadAbsence.end(in: directory.path, at: 1_000_000)
    #expect(UploadAbsence.length(in: directory.path, now: 1_000_007) == 7)
    #expect(UploadAbsence.length(in: directory.path, now: 999_000) == 0)
  }
}
