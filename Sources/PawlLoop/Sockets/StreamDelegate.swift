/// What one read or write on a socket came to.
package enum IOResult: Hashable, Sendable {
  /// So many bytes moved; at least one, unless none were asked for.
  case bytes(Int)
  /// Nothing now; readiness will be told.
  case wouldBlock
  /// Reading: the peer ends its side (writing may go on). `sendFile`: the file ends before the count.
  case end
  /// The connection is broken, or closed by us (`EBADF`); with the `errno`.
  case failed(CInt)
}

/// Who is told that a socket is ready. Called on the loop; may close the stream and let go of it.
package protocol StreamDelegate: AnyObject {
  func streamReadable()
  func streamWritable()
}

/// Stands between a stream and a delegate that it must not keep alive.
final class WeakDelegate: StreamDelegate {
  private(set) weak var target: (any StreamDelegate)?
  init(_ target: any StreamDelegate) { self.target = target }
  func streamReadable() { target?.streamReadable() }
  func streamWritable() { target?.streamWritable() }
}
