/// A body of which only the beginning is there: its reader gets that, and sees that it was cut. Over HTTP/1.1 the connection
/// ends short of the length or without the last chunk, over HTTP/2 the stream is reset.
final class CutBody: BodySource {
  private let beginning: any BodySource
  private let end: BodyEnd
  private var atCut: (() -> Void)?

  /// - Parameters:
  ///   - beginning: what there is of it.
  ///   - atCut: is called once when the reader has been given all of that.
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
