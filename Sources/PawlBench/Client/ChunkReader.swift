import PawlBase

/// Finds the content in a chunked response (RFC 9112 §7.1). Extensions and trailers are skipped.
struct ChunkReader: Hashable {
  enum Step: Hashable {
    /// All bytes were framing and no content. The response is not complete.
    case more
    /// `count` bytes from `start` on are content.
    case content(start: Int, count: Int)
    /// The response is complete. The byte at `next` does not belong to it.
    case end(next: Int)
    case malformed
  }

  private enum State: Hashable { case size, extensions, sizeFeed, content, afterContent, contentFeed, trailer, ended }
  private var state = State.size
  private var left: UInt64 = 0
  private var digits = 0
  private var lineLength = 0

  /// Returns the next piece of `bytes` from `start` on. Call this function again for the bytes after the piece.
  mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Step {
    var at = start
    while at < bytes.count {
      if state == .content {
        let count = Int(min(left, UInt64(bytes.count - at)))
        left -= UInt64(count)
        if left == 0 { state = .afterContent }
        return .content(start: at, count: count)
      }
      guard take(bytes[at]) else { return .malformed }
      at += 1
      if state == .ended { return .end(next: at) }
    }
    return .more
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    switch state {
    case .size: return takeSize(byte)
    case .extensions: if byte == 0x0d { state = .sizeFeed }
    case .sizeFeed:
      guard byte == 0x0a else { return false }
      (state, lineLength) = (left == 0 ? .trailer : .content, 0)
    case .afterContent:
      guard byte == 0x0d else { return false }
      state = .contentFeed
    case .contentFeed:
      guard byte == 0x0a else { return false }
      (state, digits) = (.size, 0)
    case .trailer:
      if byte == 0x0a {
        if lineLength == 0 { state = .ended }
        lineLength = 0
      } else if byte != 0x0d {
        lineLength += 1
      }
    case .content, .ended: return false
    }
    return true
  }

  private mutating func takeSize(_ byte: UInt8) -> Bool {
    guard let digit = byte.hexValue else {
      switch byte {
      case 0x0d where digits > 0: return move(to: .sizeFeed)
      case UInt8(ascii: ";") where digits > 0, 0x20 where digits > 0: return move(to: .extensions)
      default: return false
      }
    }
    left = (digits == 0 ? 0 : left << 4) | UInt64(digit)
    digits += 1
    return digits <= 15
  }

  private mutating func move(to next: State) -> Bool {
    state = next
    return true
  }
}
