/// A body of which only the beginning is available, and which then ends visibly: over HTTP/1.1 the connection ends before the
/// announced length or the last chunk, over HTTP/2 the stream is reset.
final class CutBody: BodySource {
  private let beginning: any BodySource
  private let end: BodyEnd
  private var atCut: (() -> Void)?

  /// - Parameters:
  ///   - beginning: the available part.
  ///   - atCut: called once, when all of the beginning has been taken.
  init(_ beginning: any BodySource, _ end: BodyEnd, atCut: @escaping () -> Void = {}) {
    (self.beginning, self.end, self.atCut) = (beginning, end, atCut)
  }

  var consumer: (any BodyConsumer)? {
    get { beginning.consumer }
    set { beginning.consumer = newValue }
  }

  func next(limit: Int) -> BodyPiece {
    let piece = beginning.next(limit: limit)
    guard case .end = piece else { return piece }
    let atCut = atCut
    self.atCut = nil
    atCut?()
    return .failed(end)
  }

  func finish() {
    atCut = nil
    beginning.finish()
  }
}
