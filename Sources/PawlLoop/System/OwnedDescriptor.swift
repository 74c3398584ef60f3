import CLinux

/// A file descriptor with exactly one owner; closed when that owner lets go.
package struct OwnedDescriptor: ~Copyable, Sendable {
  package let raw: CInt

  package init(adopting raw: CInt) { self.raw = raw }

  deinit { close(raw) }

  /// Hands the descriptor to a new owner without closing it.
  package consuming func release() -> CInt {
    let raw = raw
    discard self
    return raw
  }
}
