import PawlLoop

/// A long body in memory that is sent in pieces, one in each turn of the loop, so that nobody on the loop waits while it is copied.
/// Belongs to one loop.
final class PacedBody: BodySource {
  /// The most bytes in one turn.
  static let piece = 256 << 10

  private var bytes: [UInt8]
  private var sent = 0
  /// How many bytes may still be sent in this turn.
  private var left = PacedBody.piece
  private var isWaiting = false
  private let loop: EventLoop
  weak var consumer: (any BodyConsumer)?

  init(_ bytes: [UInt8], on loop: EventLoop) { (self.bytes, self.loop) = (bytes, loop) }

  func next(limit: Int) -> BodyPiece {
    guard sent < bytes.count else { return .end }
    guard left > 0 else {
      if !isWaiting { loop.nextTurn { [weak self] in self?.goOn() } }
      isWaiting = true
      return .later
    }
    let range = sent..<min(bytes.count, sent + min(limit, left))
    (sent, left) = (range.upperBound, left - range.count)
    return .memory(bytes, range)
  }

  private func goOn() {
    (left, isWaiting) = (Self.piece, false)
    consumer?.bodyIsReady()
  }

  func finish() { bytes = [] }
}
