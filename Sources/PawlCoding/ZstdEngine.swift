import CZstd

/// Zstandard (RFC 8878) by Facebook's library.
final class ZstdEngine: CodingEngine {
  private let context: OpaquePointer

  init(_ effort: ContentEncoder.Effort) throws(CodingError) {
    // Windows below the 8 MiB that every client has to support (RFC 9659 §3).
    let (level, windowBits): (Int32, Int32) =
      switch effort {
      case .stored: (6, 20)
      case .streamed: (3, 18)
      }
    guard let context = ZSTD_createCCtx() else { throw .outOfMemory(.zstd) }
    self.context = context
    for (parameter, value) in [(ZSTD_c_compressionLevel, level), (ZSTD_c_windowLog, windowBits)] {
      let code = ZSTD_CCtx_setParameter(context, parameter, value)
      if ZSTD_isError(code) != 0 { throw .failed(.zstd, code: Self.number(code)) }
    }
  }

  deinit { ZSTD_freeCCtx(context) }

  func step(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, _ room: UnsafeMutableBufferPointer<UInt8>
  ) -> CodingStep {
    let directive =
      switch wish {
      case .take: ZSTD_e_continue
      case .flush: ZSTD_e_flush
      case .finish: ZSTD_e_end
      }
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
    let left = ZSTD_compressStream2(context, &target, &source, directive)
    let outcome: CodingStep.Outcome =
      if ZSTD_isError(left) != 0 {
        .failed(Self.number(left))
      } else if wish == .take {
        source.pos < source.size ? .goesOn : .isDone
      } else {
        left > 0 ? .goesOn : .isDone
      }
    return CodingStep(taken: source.pos, written: target.pos, outcome: outcome)
  }

  /// zstd returns an error as its negative number, in a value of type `size_t`.
  private static func number(_ code: Int) -> Int { -code }
}
