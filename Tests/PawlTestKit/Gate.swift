import CLinux

/// Something one thread waits for and another one lets happen. Stays open.
package final class Gate: Sendable {
  private let descriptor: CInt

  package init() { descriptor = eventfd(0, CInt(EFD_CLOEXEC)) }

  deinit { close(descriptor) }

  package func open() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  package var isOpen: Bool { waits(0) }

  /// Blocks the calling thread. `false`: not opened within ten seconds, which only a failing test sees.
  @discardableResult
  package func wait() -> Bool { waits(10_000) }

  private func waits(_ milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) == 1
  }
}
