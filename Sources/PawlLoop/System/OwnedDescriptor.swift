import CLinux

/// A file descriptor that this value alone is responsible for: it is closed when the value ends.
package struct OwnedDescriptor: ~Copyable, Sendable {
  package let raw: CInt

  package init(adopting raw: CInt) { self.raw = raw }

  deinit { close(raw) }

  /// Returns the descriptor without closing it; the caller is responsible for it from now on.
  package consuming func release() -> CInt {
    let raw = raw
    discard self
    return raw
  }
}
