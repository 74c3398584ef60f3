import CBrotli

/// Brotli (RFC 7932) by Google's library.
final class BrotliEngine: CodingEngine {
  private let encoder: OpaquePointer

  init(_ effort: ContentEncoder.Effort) throws(CodingError) {
    // The memory grows with the window: a window of 4 MiB (22) needs 22 MiB, and makes source code less than 1 % smaller than the
    // window chosen here.
    let (quality, windowBits): (UInt32, UInt32) =
      switch effort {
      case .stored: (5, 19)
      case .streamed: (4, 17)
      }
    guard let encoder = BrotliEncoderCreateInstance(nil, nil, nil) else { throw .outOfMemory(.brotli) }
    self.encoder = encoder
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, quality)
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, windowBits)
  }

  deinit { BrotliEncoderDestroyInstance(encoder) }

  func step(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, _ room: UnsafeMutableBufferPointer<UInt8>
  ) -> CodingStep {
    let operation =
      switch wish {
      case .take: BROTLI_OPERATION_PROCESS
      case .flush: BROTLI_OPERATION_FLUSH
      case .finish: BROTLI_OPERATION_FINISH
      }
    var next = input.bindMemory(to: UInt8.self).baseAddress
    var (left, free) = (input.count, room.count)
    var target = room.baseAddress
    let isRight = BrotliEncoderCompressStream(encoder, operation, &left, &next, &free, &target, nil)
    let goesOn = left > 0 || BrotliEncoderHasMoreOutput(encoder) != 0
    return CodingStep(
      taken: input.count - left, written: room.count - free,
      // Brotli has no error numbers. It fails only when memory is exhausted.
      outcome: isRight == 0 ? .failed(0) : goesOn ? .goesOn : .isDone)
  }
}
