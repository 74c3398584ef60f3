import PawlBase
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Orders of the operator") struct UploadOrdersTests {
  private func unknown(_ fixture: UploadFixture) throws -> SpooledUpload {
    let upload = try fixture.completed(pattern(10))
    #expect(upload.beginForward())
    #expect(try fixture.step { upload.journalSent(on: $0, then: $1) })
    #expect(try fixture.step { upload.becomeUnknown(why: "broke off", on: $0, then: $1) })
    return upload
  }

  /// Gives an order beside the running spool, which looks after it.
  private func give(
    _ kind: UploadOrder.Kind, _ id: UploadID, _ fixture: UploadFixture
  ) throws -> UploadOrders.Outcome {
    let path = fixture.directory.path + "/spool"
    let outcome = Locked<Result<UploadOrders.Outcome, StoreError>?>(nil)
    let thread = TestThread {
      do throws(StoreError) {
        let given = try UploadOrders.give(kind, id, path: path)
        outcome.withLock { $0 = .success(given) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
    }
    while outcome.withLock({ $0 == nil }) {
      fixture.store.core.carryOutOrders()
      try fixture.settle()
    }
    thread.join()
    return try #require(outcome.withLock { $0 }).get()
  }

  @Test("are carried out by the server that has the spool")
  func running() throws {
    let fixture = try UploadFixture()
    let seen = Locked([UploadOrder]())
    fixture.store.onOrder = { order, _ in seen.withLock { $0.append(order) } }
    let (resent, dropped, open) = (try unknown(fixture), try unknown(fixture), try fixture.create())
    #expect(try give(.resend, resent.id, fixture) == .done)
    #expect(resent.status.phase == .complete)
    #expect(try give(.remove, dropped.id, fixture) == .done)
    #expect(fixture.store.isTombstone(dropped.id))
    #expect(try give(.resend, open.id, fixture) == .refused("open"))
    #expect(try give(.remove, .make(), fixture) == .unknownUpload)
    #expect(seen.withLock { $0.map(\.kind) } == [.resend, .remove])
    #expect(seen.withLock { $0.first?.id } == resent.id)
  }

  @Test("are carried out in the spool itself where no server runs")
  func alone() throws {
    let fixture = try UploadFixture()
    let (resent, dropped, open) = (try unknown(fixture), try unknown(fixture), try fixture.create())
    fixture.store.close()
    let path = fixture.directory.path + "/spool"
    #expect(try UploadOrders.give(.resend, resent.id, path: path) == .done)
    #expect(try UploadOrders.give(.remove, dropped.id, path: path) == .done)
    #expect(try UploadOrders.give(.resend, open.id, path: path) == .refused("open"))
    #expect(try UploadOrders.give(.remove, dropped.id, path: path) == .unknownUpload)
    #expect(try UploadOrders.give(.remove, open.id, path: path + "/nowhere") == .unknownUpload)
    #expect(!fixture.hasFile(dropped))
    let next = try UploadFixture(in: fixture.directory)
    #expect(try next.found(resent).status.phase == .complete)
    #expect(next.store.isTombstone(dropped.id))
  }

  @Test("a server that does not answer in time is not waited for")
  func noAnswer() throws {
    let fixture = try UploadFixture()
    let path = fixture.directory.path + "/spool"
    #expect(try UploadOrders.give(.remove, .make(), path: path, patience: .zero) == .noAnswer)
    let next = try fixture.killed()
    #expect(try next.store.core.reader.withLock { try UploadCatalogue.openOrders($0) } == [])
  }
}
