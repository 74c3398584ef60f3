package import PawlHTTP

/// The limits of chunk extensions and trailers. All sizes in bytes.
package struct ChunkLimits: Hashable, Sendable {
  /// The extensions of one chunk.
  package var chunkExtension: Int
  /// The extensions of all chunks of a body.
  package var allExtensions: Int
  package var trailer: Int
  package var trailerFields: Int

  package init(chunkExtension: Int = 256, allExtensions: Int = 4 << 10, trailer: Int = 8 << 10, trailerFields: Int = 64)
  {
    (self.chunkExtension, self.allExtensions) = (chunkExtension, allExtensions)
    (self.trailer, self.trailerFields) = (trailer, trailerFields)
  }
}

/// Finds the content in the bytes of a body with any framing (RFC 9112 §6, §7.1). Copies no content.
package struct BodyDecoder: Sendable {
  package enum Event: Sendable {
    /// More bytes are needed: skip `consumed` bytes (parts of chunk lines) and call again.
    case needMore(consumed: Int)
    /// `range` of the buffer is content; skip `consumed` bytes, counted from the start of the given range.
    case data(Range<Int>, consumed: Int)
    /// The body is complete; the following bytes belong to the next message. Every further call returns `end` again.
    case end(consumed: Int)
    /// The framing is broken, so the rest of the connection is unusable. Every further call returns `malformed` again.
    case malformed(StaticString)
  }

  private enum State: Sendable {
    case length(UInt64), untilClose, ended
    case line(ChunkLine), chunk(UInt64), afterChunk, afterChunkLineFeed, trailer(TrailerSection)
    case broken(StaticString)
  }

  private let limits: ChunkLimits
  private let trailerPolicy: TrailerPolicy
  private var state: State
  private var extensionCount = 0
  /// The trailer fields that the policy keeps; empty until the body has ended.
  package private(set) var trailers = Fields()

  package init(
    _ framing: BodyFraming, limits: ChunkLimits = ChunkLimits(), trailers policy: TrailerPolicy = .digests
  ) {
    (self.limits, trailerPolicy) = (limits, policy)
    state =
      switch framing {
      case .none, .length(0): .ended
      case .length(let count): .length(count)
      case .chunked: .line(ChunkLine())
      case .untilClose: .untilClose
      }
  }

  /// The number of content bytes still to come; `nil` when the framing does not give it.
  package var remaining: UInt64? {
    switch state {
    case .length(let count): count
    case .ended: 0
    case .untilClose, .line, .chunk, .afterChunk, .afterChunkLineFeed, .trailer, .broken: nil
    }
  }

  package var isEnded: Bool { if case .ended = state { true } else { false } }

  /// Whether the body is complete when the connection ends here (RFC 9112 §8).
  package func endOfStreamIsComplete() -> Bool {
    switch state {
    case .ended, .untilClose: true
    case .length, .line, .chunk, .afterChunk, .afterChunkLineFeed, .trailer, .broken: false
    }
  }

  /// Decodes the next piece of `buffer[range]`. The caller advances the range by the consumed bytes and calls again, until the
  /// result is `needMore`, `end` or `malformed`.
  package mutating func next(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> Event {
    var at = range.lowerBound
    while true {
      switch state {
      case .ended: return .end(consumed: at - range.lowerBound)
      case .broken(let reason): return .malformed(reason)
      case .untilClose:
        return range.isEmpty ? .needMore(consumed: 0) : .data(range, consumed: range.count)
      case .length(let left):
        guard at < range.upperBound else { return .needMore(consumed: 0) }
        let piece = Self.piece(left, from: at, in: range)
        state = left == UInt64(piece.count) ? .ended : .length(left - UInt64(piece.count))
        return .data(piece, consumed: piece.count)
      case .chunk(let left):
        guard at < range.upperBound else { return .needMore(consumed: at - range.lowerBound) }
        let piece = Self.piece(left, from: at, in: range)
        state = left == UInt64(piece.count) ? .afterChunk : .chunk(left - UInt64(piece.count))
        return .data(piece, consumed: piece.upperBound - range.lowerBound)
      case .line, .afterChunk, .afterChunkLineFeed, .trailer:
        guard at < range.upperBound else { return .needMore(consumed: at - range.lowerBound) }
        takeBetweenChunks(buffer[at])
        at += 1
      }
    }
  }

  private static func piece(_ left: UInt64, from start: Int, in range: Range<Int>) -> Range<Int> {
    let available = range.upperBound - start
    return start..<(left < UInt64(available) ? start + Int(left) : range.upperBound)
  }

  /// Takes one byte that is not content.
  private mutating func takeBetweenChunks(_ byte: UInt8) {
    switch state {
    case .line(var line):
      switch line.take(byte) {
      case .more:
        state = isWithinLimits(line) ? .line(line) : .broken("The chunk extensions are too long.")
      case .complete:
        extensionCount += line.extensionCount
        state = line.size.value == 0 ? .trailer(TrailerSection(trailerPolicy)) : .chunk(line.size.value)
      case .malformed(let reason): state = .broken(reason)
      }
    case .afterChunk:
      state = byte == Byte.carriageReturn ? .afterChunkLineFeed : .broken("A chunk is longer than its size says.")
    case .afterChunkLineFeed:
      state = byte == Byte.lineFeed ? .line(ChunkLine()) : .broken("A carriage return stands alone.")
    case .trailer(var section):
      state = .ended  // Else the section would be copied for each byte.
      switch section.take(byte, limits: limits) {
      case .more: state = .trailer(section)
      case .complete: trailers = section.fields
      case .malformed(let reason): state = .broken(reason)
      }
    case .length, .untilClose, .ended, .chunk, .broken: break
    }
  }

  private func isWithinLimits(_ line: ChunkLine) -> Bool {
    line.extensionCount <= limits.chunkExtension && extensionCount + line.extensionCount <= limits.allExtensions
  }
}

extension BodyDecoder.Event: Equatable {
  package static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.needMore(let a), .needMore(let b)), (.end(let a), .end(let b)): a == b
    case (.data(let a, let aConsumed), .data(let b, let bConsumed)): a == b && aConsumed == bConsumed
    case (.malformed(let a), .malformed(let b)): a.isSameText(as: b)
    default: false
    }
  }
}
