/// The parts of a body file that were in the page cache lately. Those are sent by the loop itself; other parts are read in the
/// pool first. To ask the kernel, pawl needs one system call for every few pages, so the result is kept for a while.
struct PageWarmth {
  /// The size in bytes of the parts of a body.
  static let span: UInt64 = 256 << 10
  /// Seconds for which a part counts as being in the page cache.
  static let holds: UInt16 = 30

  private let span: UInt64
  /// For each part, the second in which it was last seen, modulo 65,535, plus one; 0: never.
  private var seen: [UInt16] = []

  /// - Parameter span: the size of the parts in bytes.
  init(span: UInt64 = Self.span) { self.span = span }

  /// Whether all parts of `range` were seen in the last ``holds`` seconds.
  /// - Parameter second: the present second of any clock that does not run backwards.
  func isWarm(_ range: Range<UInt64>, at second: UInt64) -> Bool {
    let parts = parts(of: range)
    guard parts.upperBound <= seen.count else { return false }
    let now = Self.stamp(second)
    for part in parts where seen[part] == 0 || Self.age(of: seen[part], at: now) > Self.holds { return false }
    return true
  }

  mutating func note(_ range: Range<UInt64>, at second: UInt64) {
    let parts = parts(of: range)
    if seen.count < parts.upperBound {
      seen.append(contentsOf: repeatElement(0, count: parts.upperBound - seen.count))
    }
    let now = Self.stamp(second)
    for part in parts { seen[part] = now }
  }

  /// Forgets all parts, because the file is not in use or has changed.
  mutating func clear() { seen = [] }

  /// Widens `range` to complete parts.
  static func around(_ range: Range<UInt64>) -> Range<UInt64> {
    range.lowerBound / span * span..<(range.upperBound + span - 1) / span * span
  }

  private func parts(of range: Range<UInt64>) -> Range<Int> {
    Int(range.lowerBound / span)..<Int((range.upperBound + span - 1) / span)
  }

  private static func stamp(_ second: UInt64) -> UInt16 { UInt16(second % 65_535) + 1 }

  private static func age(of stamp: UInt16, at now: UInt16) -> UInt16 {
    now >= stamp ? now - stamp : now + (65_535 - stamp)
  }
}
