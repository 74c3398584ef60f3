import PawlLoop

/// Reads and drops, within limits, what still arrives on a connection that ends (lingering close). Unread bytes would make the
/// kernel send RST, which can destroy an answer that the client has not read yet (RFC 9112 §9.6).
struct Lingering {
  enum Outcome: Hashable {
    case goesOn
    /// The limit is reached: no more is read.
    case enough
    /// FIN has come.
    case ended
    case broken
  }

  /// Bytes that may still be read.
  private(set) var budget: Int

  init(budget: Int) { self.budget = budget }

  /// Reads once, and drops the bytes.
  mutating func read(on loop: EventLoop, _ read: (UnsafeMutableRawBufferPointer) -> IOResult) -> Outcome {
    var buffer = loop.takeReadBuffer()
    defer { loop.giveReadBuffer(buffer) }
    return take(buffer.withUnsafeMutableBytes(read))
  }

  /// Judges the result of a read.
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
