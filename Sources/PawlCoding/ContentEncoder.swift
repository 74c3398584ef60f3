package import PawlHTTP

/// Why content could not be compressed.
package enum CodingError: Error, Hashable, Sendable {
  /// The library got no memory when the encoder was made.
  case outOfMemory(ContentCoding)
  /// The library failed, with its error number.
  case failed(ContentCoding, code: Int)
  /// The encoder was finished, or failed, before.
  case ended
}

/// Compresses one content, piece by piece. Not Sendable; used by one thread at a time.
///
/// With the same coding, effort and positions of flushes, the same input gives the same output, however it is cut into pieces. To
/// ensure this, the library gets the input in blocks of ``blockSize`` bytes, and the rest at a flush or at the end. The table
/// shows the memory of one encoder, including its block, measured on 4 MB of text, of random bytes and of both with the libraries
/// of Debian 12. For content below 64 KiB, Brotli needs half of that.
///
/// | | gzip | Brotli | zstd |
/// |---|---|---|---|
/// | `stored` | 0.3 MiB | 6.3 MiB | 4.8 MiB |
/// | `streamed` | 0.3 MiB | 2.4 MiB | 1.8 MiB |
package final class ContentEncoder {
  /// The time and memory to spend on a content. Speed and ratio are those of 4 MB of source code on one core of a server.
  package enum Effort: Hashable, Sendable, CaseIterable {
    /// For content that is compressed once and sent often: gzip at 31 MB/s with a ratio of 3.9, Brotli at 41 MB/s with 4.2, zstd
    /// at 78 MB/s with 4.3.
    case stored
    /// For content that is compressed for one reader while it arrives: gzip at 75 MB/s with a ratio of 3.7, Brotli at 79 MB/s
    /// with 3.8, zstd at 223 MB/s with 3.7.
    case streamed
  }

  private enum State { case open, ended }

  /// The bytes that the library gets at a time.
  package static let blockSize = 32 << 10
  /// The bytes that the library may write at a time.
  private static let roomSize = 16 << 10

  package let coding: ContentCoding
  private let engine: any CodingEngine
  private var state = State.open
  /// The bytes of the incomplete block.
  private var pending: [UInt8] = []

  /// - Throws: ``CodingError/outOfMemory(_:)``, ``CodingError/failed(_:code:)`` where the library does not take its parameters.
  package init(_ coding: ContentCoding, effort: Effort) throws(CodingError) {
    self.coding = coding
    switch coding {
    case .gzip: engine = try GzipEngine(effort)
    case .brotli: engine = try BrotliEngine(effort)
    case .zstd: engine = try ZstdEngine(effort)
    }
  }

  /// Compresses the next piece of the content, and appends the output to `output`; often there is none.
  package func encode(_ input: UnsafeRawBufferPointer, into output: inout [UInt8]) throws(CodingError) {
    guard state == .open else { throw .ended }
    var rest = input
    if !pending.isEmpty {
      let taken = min(Self.blockSize - pending.count, rest.count)
      pending.append(contentsOf: rest[..<taken])
      rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
      guard pending.count == Self.blockSize else { return }
      try runPending(.take, into: &output)
    }
    while rest.count >= Self.blockSize {
      try run(UnsafeRawBufferPointer(rebasing: rest[..<Self.blockSize]), .take, into: &output)
      rest = UnsafeRawBufferPointer(rebasing: rest[Self.blockSize...])
    }
    if rest.isEmpty { return }
    pending.reserveCapacity(Self.blockSize)
    pending.append(contentsOf: rest)
  }

  /// Makes everything so far decodable, which each event of a stream needs. Adds about ten bytes each time.
  package func flush(into output: inout [UInt8]) throws(CodingError) {
    guard state == .open else { throw .ended }
    try runPending(.flush, into: &output)
  }

  /// Ends the content. Nothing can be added afterwards.
  package func finish(into output: inout [UInt8]) throws(CodingError) {
    guard state == .open else { throw .ended }
    try runPending(.finish, into: &output)
    state = .ended
    pending = []
  }

  private func runPending(_ wish: CodingWish, into output: inout [UInt8]) throws(CodingError) {
    // Swapped out and back, so that the array is not copied.
    var block: [UInt8] = []
    swap(&block, &pending)
    let failure = block.withUnsafeBytes { bytes -> CodingError? in
      do throws(CodingError) { try run(bytes, wish, into: &output) } catch { return error }
      return nil
    }
    if let failure { throw failure }
    block.removeAll(keepingCapacity: true)
    swap(&block, &pending)
  }

  private func run(
    _ input: UnsafeRawBufferPointer, _ wish: CodingWish, into output: inout [UInt8]
  ) throws(CodingError) {
    var rest = input
    while true {
      var step = CodingStep(taken: 0, written: 0, outcome: .isDone)
      output.append(addingCapacity: Self.roomSize) { span in
        span.withUnsafeMutableBufferPointer { bytes, count in
          // The memory for the output always has this size, whatever the capacity of the array, because the output must not
          // depend on the caller.
          let room = UnsafeMutableBufferPointer(rebasing: bytes[count..<count + Self.roomSize])
          step = engine.step(rest, wish, room)
          count += step.written
        }
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[step.taken...])
      switch step.outcome {
      case .goesOn: continue
      case .isDone: return
      case .failed(let code):
        state = .ended
        throw .failed(coding, code: code)
      }
    }
  }
}
