import CLinux
import PawlBase
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("The story of an upload") struct UploadTransitionsTests {
  /// As an order of the operator does it.
  private func resend(_ upload: SpooledUpload, on loop: EventLoop, then: @escaping (Bool) -> Void) {
    let reply = LoopReply(on: loop, then)
    upload.begin(UploadTransition(.resendOrdered, apply: { $0.forgetOutcome() }, then: { reply.send($0) }))
  }

  private func answer(_ fixture: UploadFixture, body: Int = 10) -> UploadAnswer {
    var fields = Fields()
    fields.append(.contentType, "text/plain")
    return UploadAnswer(
      status: 201, reason: Array("Created".utf8), fields: fields, body: pattern(body), isTruncated: false,
      at: fixture.clock.wallSeconds(), keepFor: .seconds(60))
  }

  @Test("from the first byte to the answer, each step as durable as it says")
  func whole() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(fixture.origin("me"))
    let writer = try fixture.writer(upload)
    writer.write(pattern(1000))
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    #expect(upload.status.phase == .complete && upload.status.length == 1000)
    #expect(writer.write([1]) == .displaced)
    #expect(try !fixture.step { upload.complete(on: $0, then: $1) })
    #expect(try fixture.cut().found(upload).status.phase == .complete)

    #expect(upload.beginForward())
    #expect(!upload.beginForward())
    #expect(upload.status.phase == .forwarding)
    #expect(try fixture.cut().found(upload).status.phase == .complete)
    #expect(try !fixture.step { upload.remove(on: $0, then: $1) })

    #expect(try fixture.step { upload.journalSent(on: $0, then: $1) })
    #expect(try !fixture.step { upload.journalSent(on: $0, then: $1) })
    #expect(try fixture.cut().found(upload).status.phase == .sent)
    #expect(try !fixture.step { upload.remove(on: $0, then: $1) })

    let answer = answer(fixture)
    #expect(try fixture.step { upload.answer(answer, on: $0, then: $1) })
    #expect(upload.answer == answer)
    #expect(upload.status.originStatus == 201 && !upload.status.isAnswerDelivered)
    // Whoever is told may use the room, though somebody may still have the file open.
    #expect(fixture.store.usedBytes == 0)
    upload.noteAnswerDelivered()
    try fixture.settle()
    #expect(!fixture.hasFile(upload))
    #expect(fixture.store.usedBytes == 0)
    let cut = try fixture.cut()
    let again = try cut.found(upload)
    #expect(again.status.phase == .answered && again.status.isAnswerDelivered)
    #expect(again.answer == answer)
    #expect(try cut.result { again.loadAnswer(on: cut.loop, then: $0) } == answer)
    #expect(again.status.expires == answer.at + 60)
  }

  @Test("who takes over while it becomes complete finds it complete")
  func takeoverOfCompletion() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(10))
    var isComplete = false
    upload.complete(on: fixture.loop) { isComplete = $0 }
    writer.detach()
    let next = try fixture.writer(upload)
    #expect(upload.status.phase == .complete)
    #expect(next.write([1]) == .displaced)
    try fixture.settle()
    #expect(isComplete)
  }

  @Test("who is told that it is removed finds its room free, whoever has the file open")
  func roomOfRemoved() throws {
    let fixture = try UploadFixture { $0.maxSize = 1000 }
    let upload = try fixture.completed(pattern(900))
    let body = try fixture.result { upload.openBody(on: fixture.loop, then: $0) }.get()
    #expect(try fixture.step { upload.remove(on: $0, then: $1) })
    #expect(fixture.store.usedBytes == 0)
    let next = try fixture.create(length: 900)
    #expect(try fixture.writer(next).write(pattern(900)) == .written(unsynced: 900))
    withExtendedLifetime(body) {}
    try fixture.settle()
    #expect(fixture.store.usedBytes == 900)
  }

  @Test("is complete with as many bytes as its length says, not with fewer")
  func tooFew() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 10)
    let writer = try fixture.writer(upload)
    writer.write(pattern(9))
    #expect(try !fixture.step { upload.complete(on: $0, then: $1) })
    #expect(upload.status.phase == .open)
    #expect(writer.write([1]) == .written(unsynced: 10))
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    #expect(upload.status.offset == 10)
  }

  @Test("an empty upload is complete")
  func empty() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed([])
    #expect(upload.status.length == 0)
    #expect(try fixture.contents(upload) == [])
  }

  @Test("forwarding begins for one of many callers")
  func once() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(10))
    let second = try SecondLoop()
    let (begun, asked) = (Locked(0), Locked(0))
    let first = fixture.loop
    for loop in [first, second.loop] {
      for _ in 0..<100 {
        loop.run {
          if upload.beginForward() { begun.withLock { $0 += 1 } }
          asked.withLock { $0 += 1 }
          first.run {}
        }
      }
    }
    fixture.loop.turn { asked.withLock { $0 } < 200 }
    #expect(begun.withLock { $0 } == 1)
  }

  @Test("a failed attempt is counted, shown, and made again")
  func attempts() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(10))
    #expect(upload.beginForward())
    upload.lastRefusal = UploadLastRefusal(attempt: 1, answer: answer(fixture))
    upload.noteAttempt(failed: "refused", nextAt: 77)
    #expect(upload.status.phase == .complete)
    #expect(upload.attempts == 1 && upload.lastError == "refused" && upload.nextAttempt == 77)
    upload.noteAttempt(failed: "not running", nextAt: nil)
    #expect(upload.attempts == 1)
    #expect(upload.lastRefusal?.attempt == 1)
    fixture.store.flush()
    #expect(try fixture.killed().found(upload).attempts == 1)
    #expect(upload.beginForward())
  }

  @Test("an attempt that fails while its journal is written has failed: it is not left as sent")
  func failedWhileJournalled() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(10))
    #expect(upload.beginForward())
    var isRecorded: Bool?
    upload.journalSent(on: fixture.loop) { isRecorded = $0 }
    upload.noteAttempt(failed: "broke off", nextAt: 77)
    try fixture.wait { isRecorded != nil && upload.status.phase == .complete }
    try fixture.settle()
    #expect(isRecorded == true && upload.status.phase == .complete)
    #expect(upload.attempts == 1 && upload.lastError == "broke off" && upload.nextAttempt == 77)
    #expect(try fixture.cut().found(upload).status.phase == .complete)
    #expect(upload.beginForward())
  }

  @Test("sent without an answer is unknown until it is sent again or dropped, by order")
  func unknown() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(10))
    #expect(try !fixture.step { upload.becomeUnknown(why: "x", on: $0, then: $1) })
    #expect(upload.beginForward())
    #expect(try fixture.step { upload.journalSent(on: $0, then: $1) })
    #expect(try !fixture.step { resend(upload, on: $0, then: $1) })
    #expect(try fixture.step { upload.becomeUnknown(why: "broke off", on: $0, then: $1) })
    #expect(try fixture.cut().found(upload).status.phase == .unknown)
    #expect(!upload.beginForward())
    #expect(fixture.logged("upload-unknown").count == 1)
    #expect(try fixture.step { resend(upload, on: $0, then: $1) })
    #expect(upload.beginForward())
    #expect(try fixture.contents(upload) == pattern(10))
  }

  @Test("what is invalid or removed frees its bytes and displaces who writes")
  func frees() throws {
    let fixture = try UploadFixture()
    for isRemoved in [false, true] {
      var isDisplaced = false
      let upload = try fixture.create(fixture.origin("me"))
      let writer = try fixture.writer(upload) { isDisplaced = true }
      writer.write(pattern(100))
      let isDone = try fixture.step {
        if isRemoved { upload.remove(on: $0, then: $1) } else { upload.invalidate(why: "digest", on: $0, then: $1) }
      }
      #expect(isDone && isDisplaced)
      #expect(writer.write([1]) == .displaced)
      try fixture.settle()
      #expect(!fixture.hasFile(upload))
      #expect(fixture.store.usedBytes == 0 && fixture.store.reservedBytes == 0)
      #expect((fixture.store.find(upload.id) == nil) == isRemoved)
      #expect(fixture.store.isTombstone(upload.id) == isRemoved)
      let cut = try fixture.cut()
      #expect(cut.store.isTombstone(upload.id) == isRemoved)
      #expect(cut.store.find(upload.id)?.status.phase == (isRemoved ? nil : .invalid))
      let late = try fixture.writer(upload)
      #expect(late.write([1]) == .displaced)
      #expect(try !fixture.step { upload.complete(on: $0, then: $1) })
    }
  }

  @Test("a removed upload's bytes stay for who sends them until it lets go, and count no more")
  func stillSent() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(100))
    do {
      let body = try fixture.result { upload.openBody(on: fixture.loop, then: $0) }.get()
      #expect(try fixture.step { upload.remove(on: $0, then: $1) })
      try fixture.settle()
      #expect(fixture.store.usedBytes == 0)
      var bytes = [UInt8](repeating: 0, count: 100)
      #expect(pread(body.fd, &bytes, 100, 0) == 100 && bytes == pattern(100))
    }
    try fixture.settle()
    #expect(fixture.store.usedBytes == 0)
  }

  @Test("a step that cannot be recorded did not happen, and can be tried again")
  func failingCatalogue() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(10))
    try fixture.withFailingCatalogue {
      let isComplete = try fixture.step { upload.complete(on: $0, then: $1) }
      #expect(!isComplete && upload.status.phase == .open)
      let isRemoved = try fixture.step { upload.remove(on: $0, then: $1) }
      #expect(!isRemoved && upload.status.phase == .open)
      #expect(throws: UploadStoreRefusal.self) { try fixture.create() }
    }
    fixture.store.flush()
    #expect(fixture.store.uploads.count == 1)
    let killed = try fixture.killed()
    #expect(killed.store.uploads.map(\.status.phase) == [.open])
    #expect(try killed.found(upload).status.offset == 10)
    // The removal had ended the writer already.
    _ = try fixture.writer(upload)
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    #expect(upload.beginForward())
    try fixture.withFailingCatalogue {
      let isSent = try fixture.step { upload.journalSent(on: $0, then: $1) }
      #expect(!isSent && upload.status.phase == .forwarding)
    }
    fixture.store.flush()
    #expect(try fixture.cut().found(upload).status.phase == .complete)
    #expect(try fixture.step { upload.journalSent(on: $0, then: $1) })
    try fixture.withFailingCatalogue {
      let isAnswered = try fixture.step { upload.answer(answer(fixture), on: $0, then: $1) }
      #expect(!isAnswered && upload.status.phase == .sent && upload.answer == nil)
    }
    #expect(try fixture.step { upload.answer(answer(fixture), on: $0, then: $1) })
    let cut = try fixture.cut()
    #expect(try cut.found(upload).answer == answer(fixture))
  }

  @Test("two steps at once are taken one after the other")
  func queued() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    try fixture.writer(upload).write(pattern(10))
    let done = Locked([String]())
    upload.complete(on: fixture.loop) { isDone in done.withLock { $0.append("complete \(isDone)") } }
    upload.complete(on: fixture.loop) { isDone in done.withLock { $0.append("again \(isDone)") } }
    upload.remove(on: fixture.loop) { isDone in done.withLock { $0.append("remove \(isDone)") } }
    fixture.loop.turn { done.withLock { $0.count } < 3 }
    #expect(done.withLock { $0 } == ["complete true", "again false", "remove true"])
  }

  @Test("a part of a concatenation is never forwarded")
  func partial() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(10), fixture.origin(isTus: true, part: .partial))
    #expect(upload.status.isConcatPartial)
    #expect(!upload.beginForward())
  }
}
