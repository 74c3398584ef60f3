import PawlDisk
import Testing

@testable import PawlUploadStore

@Suite("Room for uploads") struct UploadBudgetTests {
  private let me = Array("me".utf8)

  private func budget(_ size: UInt64 = 1000) -> UploadBudget {
    UploadBudget(DiskBudget(maxSize: size, minFree: 0), sharePercent: 30, openLimit: 2)
  }

  @Test("a promise is as large as spool and share allow, and can be given back")
  func promises() {
    let budget = budget()
    #expect(budget.promise(me, upTo: 200) == 200)
    #expect(budget.promise(me, upTo: 200) == 100)
    #expect(budget.promise(me, upTo: 1) == 0)
    #expect(budget.promise([], upTo: 2000) == 700)
    #expect(budget.promise(Array("you".utf8), upTo: 1) == 0)
    budget.giveBack(me, 300)
    #expect(budget.promise(me, upTo: 999) == 300)
  }

  @Test("received bytes count for their client until they are forgotten")
  func received() {
    let budget = budget()
    budget.recover(me, bytes: 250, as: .open)
    #expect(budget.admit(me, length: 51) == .clientShare)
    #expect(budget.admit(me, length: 301) == .tooLarge)
    #expect(budget.admit(me, length: nil) == nil)
    #expect(budget.admit(me, length: nil) == .tooManyUploads)
    budget.leave(me)
    budget.forget(me, 250)
    #expect(budget.admit(me, length: 300) == nil)
    #expect(budget.disk.used == 250)
    #expect(budget.admit([], length: 751) == .full)
  }

  @Test("a whole part is not open, and a client may have many of them, not any number")
  func wholeParts() {
    let budget = budget()
    for _ in 0..<20 {
      #expect(budget.admit(me, length: 1, isPart: true) == nil)
      budget.move(me, from: .open, to: .wholePart)
    }
    #expect(budget.admit(me, length: 1, isPart: true) == .tooManyUploads)
    #expect(budget.admit(me, length: 1) == nil)
    budget.move(me, from: .wholePart, to: .none)
    #expect(budget.admit(me, length: 1, isPart: true) == nil)
    #expect(budget.admit(me, length: 1) == .tooManyUploads)
  }

  @Test("what is made of parts takes no more of the share than they do, once")
  func wholes() {
    let budget = budget()
    budget.recover(me, bytes: 200, as: .wholePart)
    #expect(budget.admitWhole(me, length: 301, replacing: 200) == .tooLarge)
    #expect(budget.admitWhole(me, length: 200, replacing: 0) == .clientShare)
    #expect(budget.admitWhole(me, length: 200, replacing: 200) == nil)
    #expect(budget.admitWhole(me, length: 200, replacing: 200) == .clientShare)
    #expect(budget.disk.reserved == 200)
    #expect(budget.admit(me, length: 1) == .clientShare)
    #expect(budget.admitWhole([], length: 601, replacing: 0) == .full)
    #expect(budget.admitWhole([], length: 600, replacing: 0) == nil)
  }

  @Test("what is left free on the file system counts")
  func free() {
    let budget = UploadBudget(DiskBudget(maxSize: 1 << 40, minFree: 100), sharePercent: 100, openLimit: 1)
    budget.disk.noteFree(150)
    #expect(budget.promise([], upTo: 80) == 50)
    #expect(budget.admit(me, length: 1) == .full)
  }

  @Test("other limits hold at once, also for clients that are beyond them; nothing is taken back")
  func limits() {
    let budget = budget()
    budget.recover(me, bytes: 250, as: .open)
    budget.setLimits(maxSize: 500, minFree: 0, sharePercent: 40, openLimit: 1)
    #expect(budget.share == 200 && budget.disk.used == 250)
    #expect(budget.admit(me, length: 1) == .tooManyUploads)
    #expect(budget.promise(me, upTo: 1) == 0)
    #expect(budget.admit([], length: 501) == .tooLarge && budget.admit([], length: 251) == .full)
    budget.setLimits(maxSize: 1000, minFree: 0, sharePercent: 100, openLimit: 2)
    #expect(budget.admit(me, length: 750) == nil && budget.promise(me, upTo: 999) == 750)
  }
}
