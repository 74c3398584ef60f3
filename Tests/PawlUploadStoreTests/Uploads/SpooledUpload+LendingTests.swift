import CLinux
import PawlBase
import PawlDisk
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Uploads whose deliveries go on in the process before this one") struct SpooledUploadLendingTests {
  /// Notes the steps, and answers when the test says so.
  private final class Lender: UploadLender {
    let steps = Locked([LentStep]())
    let replies = Locked([@Sendable (Bool) -> Void]())
    let delivered = Locked([UploadID]())

    func record(_ step: LentStep, then: @escaping @Sendable (Bool) -> Void) {
      steps.withLock { $0.append(step) }
      replies.withLock { $0.append(then) }
    }

    func noteDelivered(_ id: UploadID) { delivered.withLock { $0.append(id) } }

    func reply(_ isRecorded: Bool) { replies.withLock { $0.removeFirst() }(isRecorded) }
    func take() -> [LentStep] {
      steps.withLock { steps in
        defer { steps = [] }
        return steps
      }
    }
  }

  /// An old process with one upload that it sends, and a new one that has the spool.
  private struct Pair {
    let old: UploadFixture
    let new: UploadFixture
    let lender = Lender()
    let sending: SpooledUpload
    let lent: SpooledUpload

    init(sent: Bool = false, spoil: (String) -> Void = { _ in }) throws {
      let (fixture, bytes) = (try UploadFixture(), pattern(1000))
      let upload = try fixture.completed(bytes)
      #expect(upload.beginForward())
      if sent {
        let isSent = try fixture.step { upload.journalSent(on: $0, then: $1) }
        #expect(isSent)
      }
      (old, sending) = (fixture, upload)
      old.store.handOver(lendingTo: lender)
      spoil(old.path(sending))
      new = try UploadFixture(in: old.directory, lent: [sending.id])
      lent = try #require(new.store.find(sending.id))
    }

    /// Passes the next step on, and what the new process makes of it back.
    func pass() throws {
      let step = try #require(lender.take().first)
      let done = DispatchedResult()
      lent.take(step) { done.set($0) }
      lender.reply(done.wait())
    }

    /// The phase as a third process finds it.
    func recorded() throws -> UploadPhase? {
      let third = try new.killed()
      defer { withExtendedLifetime(third) {} }
      return third.store.find(lent.id)?.status.phase
    }
  }

  @Test("are opened as deliveries that run, as far as the old process came", arguments: [false, true])
  func opens(isSent: Bool) throws {
    let pair = try Pair(sent: isSent)
    #expect(pair.lent.isLent && pair.new.store.lentUploads.map(\.id) == [pair.lent.id])
    #expect(pair.lent.status.phase == (isSent ? .sent : .forwarding) && pair.lent.status.offset == 1000)
    #expect(!pair.lent.beginForward() && pair.new.store.usedBytes == 1000)
    #expect(!(try pair.new.step { pair.lent.remove(on: $0, then: $1) }))
    #expect(try pair.recorded() == (isSent ? .sent : .complete))
    #expect(pair.sending.isHandedOver && !pair.lent.isHandedOver)
  }

  @Test("keep row and file as they are, whatever a recovery would make of them")
  func untouched() throws {
    let pair = try Pair(spoil: { truncate($0, 10) })
    #expect(pair.lent.status.phase == .forwarding && pair.lent.status.offset == 1000)
    let gone = try Pair(spoil: { unlink($0) })
    #expect(gone.lent.status.phase == .forwarding && gone.new.logged("upload-invalid").isEmpty)
  }

  @Test("that are in another phase, or of which the catalogue knows nothing, are not lent")
  func others() throws {
    let old = try UploadFixture()
    let (open, answered) = (try old.create(), try old.completed(pattern(10)))
    try old.answer(answered)
    old.store.handOver()
    let new = try UploadFixture(in: old.directory, lent: [open.id, answered.id, .make()])
    #expect(new.store.lentUploads.isEmpty)
    #expect(try new.found(open).status.phase == .open && new.found(answered).status.phase == .answered)
    let done = DispatchedResult()
    try new.found(answered).take(LentStep(answered.id, .outcomeLost)) { done.set($0) }
    #expect(!done.wait())
  }

  @Test("each step counts in the old process once the new one has recorded it durably")
  func steps() throws {
    let pair = try Pair()
    var told: [Bool] = []
    pair.sending.journalSent(on: pair.old.loop) { told.append($0) }
    #expect(
      pair.sending.status.phase == .forwarding && pair.lender.steps.withLock { $0.map(\.event) } == [.requestSent])
    try pair.pass()
    #expect(try pair.recorded() == .sent)
    pair.old.loop.turn { told.isEmpty }
    #expect(told == [true] && pair.sending.status.phase == .sent && pair.lent.status.phase == .sent)

    let answer = UploadAnswer(status: 201, body: [1, 2], at: pair.old.clock.wallSeconds())
    pair.sending.answer(answer, for: [[7]], on: pair.old.loop) { told.append($0) }
    try pair.pass()
    #expect(try pair.recorded() == .answered)
    pair.old.loop.turn { told.count < 2 }
    #expect(told == [true, true] && pair.sending.answer == answer)
    #expect(pair.lent.answer == answer && pair.lent.askers == [[7]] && !pair.lent.isLent)
    #expect(pair.lent.status.originStatus == 201 && pair.new.store.usedBytes == 0)
    pair.sending.noteAnswerDelivered()
    #expect(pair.lender.delivered.withLock { $0 } == [pair.lent.id])
    // The store logs what it records, and only there.
    #expect(pair.old.logged("upload-unknown").isEmpty)
  }

  @Test("their file is not used for another upload while the old process may read it")
  func noReuse() throws {
    let pair = try Pair(sent: true)
    let body = try pair.old.result { pair.sending.openBody(on: pair.old.loop, then: $0) }.get()
    // Open in the new process, too: such a file of its own would be kept for another upload.
    _ = try pair.new.result { pair.lent.openBody(on: pair.new.loop, then: $0) }.get()
    pair.sending.becomeUnknown(why: "gone", on: pair.old.loop) { _ in }
    try pair.pass()
    #expect(try pair.new.step { pair.lent.remove(on: $0, then: $1) })
    try pair.new.settle()
    #expect(!pair.new.hasFile(pair.lent))
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(body.fd, &bytes, 1000, 0) == 1000 && bytes == pattern(1000))
    withExtendedLifetime(body) {}
  }

  @Test("that come back are complete in both, with the attempt and its refusal", arguments: [false, true])
  func comeBack(isSent: Bool) throws {
    let pair = try Pair(sent: isSent)
    let refusal = UploadLastRefusal(attempt: 1, answer: UploadAnswer(status: 503, body: [3], at: 5))
    if isSent {
      pair.sending.comeBack(failed: "busy", nextAt: 77, refusal: refusal, on: pair.old.loop) { _ in }
    } else {
      pair.sending.lastRefusal = refusal
      pair.sending.noteAttempt(failed: "busy", nextAt: 77)
      #expect(pair.sending.status.phase == .complete)
    }
    try pair.pass()
    #expect(pair.lent.status.phase == .complete && !pair.lent.isLent && pair.lent.lastRefusal == refusal)
    #expect(pair.lent.attempts == 1 && pair.lent.nextAttempt == 77 && pair.lent.lastError == "busy")
    #expect(try pair.recorded() == .complete)
    // The new process delivers it from now on: what else the old one says of it has no effect.
    #expect(pair.lent.beginForward())
    let done = DispatchedResult()
    pair.lent.take(LentStep(pair.lent.id, .attemptFailed)) { done.set($0) }
    #expect(!done.wait() && pair.lent.status.phase == .forwarding)
  }

  @Test("a step that the new process cannot record did not happen, and can be tried again")
  func failing() throws {
    let pair = try Pair(sent: true)
    var told: [Bool] = []
    pair.sending.becomeUnknown(why: "silent", on: pair.old.loop) { told.append($0) }
    let step = try #require(pair.lender.take().first)
    try pair.new.withFailingCatalogue {
      let done = DispatchedResult()
      pair.lent.take(step) { done.set($0) }
      pair.lender.reply(done.wait())
    }
    pair.old.loop.turn { told.isEmpty }
    #expect(told == [false] && pair.sending.status.phase == .sent && pair.lent.isLent)
    pair.sending.becomeUnknown(why: "silent", on: pair.old.loop) { told.append($0) }
    try pair.pass()
    pair.old.loop.turn { told.count < 2 }
    #expect(told == [false, true] && pair.lent.status.phase == .unknown && pair.lent.lastError == "silent")
    #expect(pair.new.logged("upload-unknown").count == 1 && pair.old.logged("upload-unknown").isEmpty)
  }

  @Test("whose loan has ended are this process's own")
  func ends() throws {
    let pair = try Pair()
    #expect(pair.lent.endLoan() && !pair.lent.endLoan() && !pair.lent.isLent)
    pair.lent.noteAttempt(failed: "ended", nextAt: nil)
    #expect(pair.lent.status.phase == .complete && pair.lent.beginForward())
  }
}
