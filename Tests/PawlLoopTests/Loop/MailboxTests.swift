import CLinux
import PawlBase
import Testing

@testable import PawlLoop

@Suite("Mailbox") struct MailboxTests {
  private final class Note: MailboxItem, @unchecked Sendable {
    let number: Int
    let seen: Locked<[Int]>
    init(_ number: Int, _ seen: Locked<[Int]>) { (self.number, self.seen) = (number, seen) }
    override func perform() { seen.withLock { $0.append(number) } }
  }

  /// How often the bell was rung since the last look.
  private func rings(_ mailbox: Mailbox) -> UInt64 {
    var count: UInt64 = 0
    return read(mailbox.descriptor, &count, 8) == 8 ? count : 0
  }

  @Test("rings once a batch and performs it oldest first")
  func ringsOnce() throws {
    let mailbox = try Mailbox()
    let seen = Locked<[Int]>([])
    for number in 0..<100 { #expect(mailbox.push(Note(number, seen))) }
    #expect(rings(mailbox) == 1)
    mailbox.performAll()
    #expect(seen.withLock { $0 } == Array(0..<100))
    #expect(rings(mailbox) == 0)
    mailbox.push(Note(100, seen))
    #expect(rings(mailbox) == 1)
  }

  @Test("what an item sends comes in the next batch")
  func defersReplies() throws {
    let mailbox = try Mailbox()
    let seen = Locked<[Int]>([])
    mailbox.push(MailboxClosure { mailbox.push(Note(2, seen)) })
    mailbox.push(Note(1, seen))
    mailbox.performAll()
    #expect(seen.withLock { $0 } == [1])
    mailbox.performAll()
    #expect(seen.withLock { $0 } == [1, 2])
  }

  @Test("closed, it lets go of what waits and takes nothing more")
  func closes() throws {
    let mailbox = try Mailbox()
    let seen = Locked<[Int]>([])
    weak var waiting: Note?
    weak var late: Note?
    do {
      let notes = (Note(1, seen), Note(2, seen))
      (waiting, late) = notes
      #expect(mailbox.push(notes.0))
      mailbox.close()
      #expect(!mailbox.push(notes.1))
    }
    mailbox.close()
    #expect(waiting == nil && late == nil)
    #expect(seen.withLock { $0 } == [])
  }

  @Test("the loop's own items ring no bell, and come in their place among the others")
  func quiet() throws {
    let mailbox = try Mailbox()
    let seen = Locked<[Int]>([])
    #expect(mailbox.push(Note(1, seen), rings: false))
    #expect(mailbox.push(Note(2, seen)))
    #expect(rings(mailbox) == 0)
    mailbox.performWaiting()
    #expect(seen.withLock { $0 } == [1, 2])
    #expect(mailbox.push(Note(3, seen)))
    #expect(rings(mailbox) == 1)
    mailbox.performAll()
    #expect(seen.withLock { $0 } == [1, 2, 3])
  }
}
