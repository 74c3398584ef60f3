import PawlHTTP

/// Reads a part of a kept body while the body is still being compared with the one that the origin gives to this client. No byte is sent
/// before the origin has given the same byte to this very request. If the two bodies differ, the response is cut off before the first
/// different byte.
final class ProvenReader: BodySource {
  private let reader: CacheReader
  private let comparison: PrivateComparison
  private var position: UInt64
  private let end: UInt64
  weak var consumer: (any BodyConsumer)? { didSet { reader.consumer = consumer } }

  init(_ reader: CacheReader, from range: ByteRange, by comparison: PrivateComparison) {
    (self.reader, self.comparison, position, end) = (reader, comparison, range.first, range.end)
    comparison.progressed = { [weak self] in self?.consumer?.bodyIsReady() }
  }

  func next(limit: Int) -> BodyPiece {
    guard position < end else { return reader.next(limit: limit) }
    guard comparison.compared > position else {
      return comparison.state == .comparing
        ? .later : .failed(BodyEnd(party: .origin, reason: "rest-cannot-be-proven"))
    }
    let piece = reader.next(limit: Int(min(UInt64(limit), comparison.compared - position)))
    switch piece {
    case .file(let run): position += UInt64(run.count)
    case .memory(_, let range): position += UInt64(range.count)
    case .later, .soon, .end, .failed: break
    }
    return piece
  }

  func finish() {
    reader.finish()
    comparison.progressed = nil
  }
}
