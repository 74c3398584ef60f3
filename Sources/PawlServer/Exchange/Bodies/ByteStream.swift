import PawlLoop

/// A stream of bytes in both directions for a ``Tunnel``: a socket, or a stream of an HTTP/2 connection. The methods are those of
/// ``SocketStream``.
protocol ByteStream: AnyObject {
  /// Held weakly.
  var delegate: (any StreamDelegate)? { get set }
  var isReading: Bool { get }
  var isClosed: Bool { get }
  func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult
  func startReading()
  func stopReading()
  func write(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult
  func wantWritable()
  func shutdownWrite()
  func close()
  func reset()
}

extension SocketStream: ByteStream {}
