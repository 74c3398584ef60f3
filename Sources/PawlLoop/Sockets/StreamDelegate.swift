/// The result of one read or write on a socket.
package enum IOResult: Hashable, Sendable {
  /// The number of bytes that were moved; at least one, unless zero bytes were asked for.
  case bytes(Int)
  /// Nothing was moved. The delegate is called when the socket is ready.
  case wouldBlock
  /// `read`: the peer has ended its side (writing may go on). `sendFile`: the file ends before `count` bytes were sent.
  case end
  /// The connection is broken, or was closed on this side (`EBADF`). The value is the `errno`.
  case failed(CInt)
}

/// The object that a stream calls when its socket is ready. The calls come on the loop. The object may close and release the
/// stream.
package protocol StreamDelegate: AnyObject {
  func streamReadable()
  func streamWritable()
}

/// Forwards the callbacks of a stream to a delegate that the stream must not keep alive.
final class WeakDelegate: StreamDelegate {
  private(set) weak var target: (any StreamDelegate)?
  init(_ target: any StreamDelegate) { self.target = target }
  func streamReadable() { target?.streamReadable() }
  func streamWritable() { target?.streamWritable() }
}
