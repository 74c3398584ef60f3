/// What is to become of the input.
enum CodingWish {
  /// Taken in; what comes out may wait.
  case take
  /// Taken in, and everything so far comes out.
  case flush
  /// The last of it.
  case finish
}

/// What one call of a library did.
struct CodingStep {
  enum Outcome {
    /// It has to be called again with the rest of the input and the same wish.
    case goesOn
    case isDone
    /// With the library's number.
    case failed(Int)
  }

  /// Bytes of the input.
  var taken: Int
  /// Bytes of the room.
  var written: Int
  var outcome: Outcome
}

/// A compressor of one content.
protocol CodingEngine: AnyObject {
  /// - Parameter room: not empty; gets what comes out.
  func step(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, _ room: UnsafeMutableBufferPointer<UInt8>
  ) -> CodingStep
}
