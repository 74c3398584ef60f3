/// Takes small numbers off the end of an input, so that the text before them stays as it is and can be read by people.
struct FuzzInput {
  private(set) var text: [UInt8]

  init(_ bytes: [UInt8]) { text = bytes }

  /// A number from 0 up to `limit - 1`.
  mutating func number(below limit: Int) -> Int { Int(text.popLast() ?? 0) % max(limit, 1) }

  mutating func flag() -> Bool { number(below: 2) == 1 }

  /// A number of eight bytes.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(text.popLast() ?? 0) } }

  /// Lengths of pieces in which `count` bytes arrive: the number decides how irregular they are.
  static func pieces(of count: Int, by choice: Int) -> [Int] {
    guard choice > 0 else { return count == 0 ? [] : [count] }
    var (state, left) = (UInt64(choice), count)
    var pieces: [Int] = []
    while left > 0 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let piece = choice < 8 ? min(choice, left) : min(left, 1 + Int(state >> 33) % (choice * 2))
      pieces.append(piece)
      left -= piece
    }
    return pieces
  }

  /// Splits the text at a byte that separates parts, such as a line feed.
  func parts(at separator: UInt8 = 0x0a) -> [ArraySlice<UInt8>] {
    text.split(separator: separator, omittingEmptySubsequences: false)
  }
}
