/// What a compressor does with its input.
enum CodingWish {
  /// Takes the input; the output may be delayed.
  case take
  /// Takes the input, and writes the output of all input so far.
  case flush
  /// Takes the input as the last one, and ends the output.
  case finish
}

/// The result of one call of a library.
struct CodingStep {
  enum Outcome {
    /// The library has to be called again, with the rest of the input and the same wish.
    case goesOn
    case isDone
    /// The library failed, with its error number.
    case failed(Int)
  }

  /// The bytes of the input that were taken in.
  var taken: Int
  /// The bytes that were written into the memory for the output.
  var written: Int
  var outcome: Outcome
}

/// Compresses one content.
protocol CodingEngine: AnyObject {
  /// - Parameter room: the memory for the output; not empty.
  func step(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, _ room: UnsafeMutableBufferPointer<UInt8>
  ) -> CodingStep
}
