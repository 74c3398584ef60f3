import CLinux

/// Work for a loop: one link of the mailbox's list. The loop performs and releases it.
class MailboxItem: @unchecked Sendable {
  // Safe: `next` is written before the item is pushed, and read after the item was taken. The atomic head of the list puts the
  // write before the read.
  fileprivate var next: UInt = 0

  /// Performs the work. Called once, on the loop. The function must clear the item's references to objects of the loop: the
  /// sending thread may be the last to release the item, and must not release such objects.
  func perform() {}
}

/// A plain closure for a loop.
final class MailboxClosure: MailboxItem, @unchecked Sendable {
  // Safe: immutable.
  private let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  override func perform() { work() }
}

/// The way from other threads to a loop: a linked list of items, and an eventfd that is written once for each batch of items.
/// This costs half of what `event_active` across threads costs.
final class Mailbox: Sendable {
  // The head is the address of the newest item, which the list retains, or one of these two constants.
  private static let empty: UInt = 0
  private static let closed: UInt = 1
  private let head = AtomicWord(empty)
  private let bell: OwnedDescriptor

  /// The descriptor that the loop polls: readable while items wait.
  var descriptor: CInt { bell.raw }

  init() throws(LoopError) {
    let raw = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
    guard raw >= 0 else { throw .system(call: "eventfd", code: pawl_errno()) }
    bell = OwnedDescriptor(adopting: raw)
  }

  deinit { close() }

  /// Adds an item. From any thread.
  /// - Parameter rings: `false` if the loop itself adds the item and reads the mailbox later in the same turn.
  /// - Returns: `false` if the loop has ended; the item is not performed then.
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
    // The write fails only when the counter is full; the loop is awake then.
    _ = write(bell.raw, &one, 8)
  }

  /// Resets the eventfd and performs the waiting items, oldest first. On the loop.
  func performAll() {
    var count: UInt64 = 0
    _ = read(bell.raw, &count, 8)
    performWaiting()
  }

  /// Performs the waiting items, oldest first. On the loop.
  func performWaiting() {
    var address = oldestFirst(head.exchange(Mailbox.empty))
    while let item = Mailbox.item(at: address) {
      address = item.next
      item.perform()
    }
  }

  /// Closes the mailbox at the end of the loop. Waiting and later items are released without being performed. On the loop.
  func close() {
    var address = head.exchange(Mailbox.closed)
    while let item = Mailbox.item(at: address) { address = item.next }
  }

  private func oldestFirst(_ newest: UInt) -> UInt {
    var address = newest
    var turned = Mailbox.empty
    while let link = UnsafeRawPointer(bitPattern: address) {
      // Safe: the list retains its items until `item(at:)` takes them.
      let item = Unmanaged<MailboxItem>.fromOpaque(link).takeUnretainedValue()
      (address, item.next, turned) = (item.next, turned, address)
    }
    return turned
  }

  /// Takes an item out of the list, together with the list's reference to it.
  private static func item(at address: UInt) -> MailboxItem? {
    guard address != closed, let link = UnsafeRawPointer(bitPattern: address) else { return nil }
    return Unmanaged<MailboxItem>.fromOpaque(link).takeRetainedValue()
  }
}
