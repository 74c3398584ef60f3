import CZlib

/// gzip (RFC 1952) by zlib.
final class GzipEngine: CodingEngine {
  /// The state of zlib, at a fixed address because zlib keeps a pointer to it.
  private let stream: UnsafeMutablePointer<z_stream>

  init(_ effort: ContentEncoder.Effort) throws(CodingError) {
    let level: Int32 =
      switch effort {
      case .stored: 6
      case .streamed: 4
      }
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let code = pawl_gzip_init(stream, level)
    guard code == Z_OK else { throw code == Z_MEM_ERROR ? .outOfMemory(.gzip) : .failed(.gzip, code: Int(code)) }
  }

  deinit {
    // Does nothing when the stream was not initialised.
    deflateEnd(stream)
    stream.deallocate()
  }

  func step(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, _ room: UnsafeMutableBufferPointer<UInt8>
  ) -> CodingStep {
    let flush =
      switch wish {
      case .take: Z_NO_FLUSH
      case .flush: Z_SYNC_FLUSH
      case .finish: Z_FINISH
      }
    // Safe: zlib writes only to `room`. Both lengths fit into 32 bits.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = room.baseAddress
    stream.pointee.avail_out = UInt32(room.count)
    let code = deflate(stream, flush)
    let isFull = stream.pointee.avail_out == 0
    let outcome: CodingStep.Outcome =
      switch code {
      case Z_STREAM_END: .isDone
      // Nothing was left to write, because the previous call had filled its memory exactly.
      case Z_BUF_ERROR where wish != .finish: .isDone
      case Z_OK: isFull || wish == .finish ? .goesOn : .isDone
      default: .failed(Int(code))
      }
    return CodingStep(
      taken: input.count - Int(stream.pointee.avail_in), written: room.count - Int(stream.pointee.avail_out),
      outcome: outcome)
  }
}
