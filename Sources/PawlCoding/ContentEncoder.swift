package import PawlHTTP

/// Why content could not be compressed.
package enum CodingError: Error, Hashable, Sendable {
  /// The library got no memory to begin.
  case outOfMemory(ContentCoding)
  /// The library refused; the number is its own word for why.
  case failed(ContentCoding, code: Int)
  /// It was finished, or failed, before.
  case ended
}

/// Compresses one content, piece by piece. Not Sendable; used by one thread at a time.
///
/// The same input gives the same output, however it is cut into pieces, for the same coding, effort and places of flushes: the
/// library gets it in blocks of ``blockSize`` bytes, and the rest at a flush or the end. Memory, the block included, measured on
/// 4 MB of text, of random bytes and of both with Debian 12's libraries; of content of less than 64 KiB Brotli takes half of it:
///
/// | | gzip | Brotli | zstd |
/// |---|---|---|---|
/// | `stored` | 0.3 MiB | 6.3 MiB | 4.8 MiB |
/// | `streamed` | 0.3 MiB | 2.4 MiB | 1.8 MiB |
package final class ContentEncoder {
  /// How much time and memory a content is worth. Speed and ratio are those of 4 MB of source code on one core of a server.
  package enum Effort: Hashable, Sendable, CaseIterable {
    /// Compressed once and given often: gzip 31 MB/s to a ratio of 3.9, Brotli 41 MB/s to 4.2, zstd 78 MB/s to 4.3.
    case stored
    /// Compressed for one reader, while it comes: gzip 75 MB/s to 3.7, Brotli 79 MB/s to 3.8, zstd 223 MB/s to 3.7.
    case streamed
  }

  private enum State { case open, ended }

  /// Bytes that the library gets at a time.
  package static let blockSize = 32 << 10
  /// Bytes that the library may write at a time.
  private static let roomSize = 16 << 10

  package let coding: ContentCoding
  private let engine: any CodingEngine
  private var state = State.open
  /// Of the block that is not whole yet.
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

  /// Takes the next piece of the content, and appends to `output` what comes out: often nothing.
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

  /// Makes everything so far decodable, as an event of a stream has to be. Costs about ten bytes each time.
  package func flush(into output: inout [UInt8]) throws(CodingError) {
    guard state == .open else { throw .ended }
    try runPending(.flush, into: &output)
  }

  /// Ends the content. Nothing can be added after it.
  package func finish(into output: inout [UInt8]) throws(CodingError) {
    guard state == .open else { throw .ended }
    try runPending(.finish, into: &output)
    state = .ended
    pending = []
  }

  private func runPending(_ wish: CodingWish, into output: inout [UInt8]) throws(CodingError) {
    // Taken out and put back, so that it is not copied.
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
          // Never more than so many, whatever the array has: how the library writes must not depend on its caller.
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
