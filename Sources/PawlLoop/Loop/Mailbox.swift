import CLinux

/// Work on its way to a loop: one link of the mailbox's list, performed and let go on the loop.
class MailboxItem: @unchecked Sendable {
  // Safe: written before the item is pushed, read after it was taken; the list's head orders the two.
  fileprivate var next: UInt = 0

  /// Runs on the loop, once. Must let go of everything that belongs to the loop: the sender may hold the item longer.
  func perform() {}
}

/// A plain closure for a loop.
final class MailboxClosure: MailboxItem, @unchecked Sendable {
  // Safe: immutable.
  private let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  override func perform() { work() }
}

/// How other threads reach a loop: an intrusive stack of items and an eventfd that is written once a batch
/// (half of what `event_active` across threads costs).
final class Mailbox: Sendable {
  // The head is the address of the newest item, which the list owns, or one of these.
  private static let empty: UInt = 0
  private static let closed: UInt = 1
  private let head = AtomicWord(empty)
  private let bell: OwnedDescriptor

  /// Readable while something waits.
  var descriptor: CInt { bell.raw }

  init() throws(LoopError) {
    let raw = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
    guard raw >= 0 else { throw .system(call: "eventfd", code: pawl_errno()) }
    bell = OwnedDescriptor(adopting: raw)
  }

  deinit { close() }

  /// From any thread. `false` when the loop has ended: the item is not performed.
  /// - Parameter rings: `false`: the loop itself pushes, and will look.
  @discardableResult
  func push(_ item: MailboxItem, rings: Bool = true) -> Bool {
    let link = Unmanaged.passRetained(item)
    let address = UInt(bitPattern: link.toOpaque())
    var seen = head.load()
    while seen != Mailbox.closed {
      item.next = seen
      let found = head.replace(seen, with: address)
      if found == seen {
        if seen == Mailbox.empty, rings { ring() }
        return true
      }
      seen = found
    }
    link.release()
    return false
  }

  /// Wakes the loop without giving it work.
  func ring() {
    var one: UInt64 = 1
    // Fails only when the counter is full, and then the loop is awake already.
    _ = write(bell.raw, &one, 8)
  }

  /// On the loop: silences the bell and performs what waits, oldest first.
  func performAll() {
    var count: UInt64 = 0
    _ = read(bell.raw, &count, 8)
    performWaiting()
  }

  /// On the loop: performs what waits, oldest first.
  func performWaiting() {
    var address = oldestFirst(head.exchange(Mailbox.empty))
    while let item = Mailbox.item(at: address) {
      address = item.next
      item.perform()
    }
  }

  /// On the loop, at its end: what waits and what still comes is let go unperformed.
  func close() {
    var address = head.exchange(Mailbox.closed)
    while let item = Mailbox.item(at: address) { address = item.next }
  }

  private func oldestFirst(_ newest: UInt) -> UInt {
    var address = newest
    var turned = Mailbox.empty
    while let link = UnsafeRawPointer(bitPattern: address) {
      // Safe: the list owns its items until `item(at:)` takes them.
      let item = Unmanaged<MailboxItem>.fromOpaque(link).takeUnretainedValue()
      (address, item.next, turned) = (item.next, turned, address)
    }
    return turned
  }

  /// Takes the item out of the list's ownership.
  private static func item(at address: UInt) -> MailboxItem? {
    guard address != closed, let link = UnsafeRawPointer(bitPattern: address) else { return nil }
    return Unmanaged<MailboxItem>.fromOpaque(link).takeRetainedValue()
  }
}
