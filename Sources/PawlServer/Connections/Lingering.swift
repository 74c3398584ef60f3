import PawlLoop

/// What still comes on a connection that ends is read and dropped, within limits: bytes nobody reads would make the kernel
/// send RST, which overtakes what was sent (RFC 9112 §9.6).
struct Lingering {
  enum Outcome: Hashable {
    case goesOn
    /// More has come than is read for the sake of an answer.
    case enough
    /// FIN has come.
    case ended
    case broken
  }

  /// Bytes that are still read.
  private(set) var budget: Int

  init(budget: Int) { self.budget = budget }

  /// Reads once, into the loop's buffer.
  mutating func read(on loop: EventLoop, _ read: (UnsafeMutableRawBufferPointer) -> IOResult) -> Outcome {
    var buffer = loop.takeReadBuffer()
    defer { loop.giveReadBuffer(buffer) }
    return take(buffer.withUnsafeMutableBytes(read))
  }

  /// What a read has given.
  mutating func take(_ result: IOResult) -> Outcome {
    switch result {
    case .bytes(let count):
      budget -= count
      return budget <= 0 ? .enough : .goesOn
    case .wouldBlock: return .goesOn
    case .end: return .ended
    case .failed: return .broken
    }
  }
}
