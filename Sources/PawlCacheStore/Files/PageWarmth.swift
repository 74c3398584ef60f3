/// Which parts of a body file were seen in the page cache lately: what is there is sent by the loop itself, what is not is
/// read in the pool first. Asking the kernel costs a system call for each few pages, so its answer holds for a while.
struct PageWarmth {
  /// Bytes that one note is about, of a body.
  static let span: UInt64 = 256 << 10
  /// Seconds for which a part that was seen is not asked about again.
  static let holds: UInt16 = 30

  private let span: UInt64
  /// By part: the second it was seen at, modulo 65,535, and one more; 0: never.
  private var seen: [UInt16] = []

  /// - Parameter span: bytes that one note is about.
  init(span: UInt64 = Self.span) { self.span = span }

  /// - Parameter second: of any clock that does not run backwards.
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

  /// Forgets all: nobody uses the file.
  mutating func clear() { seen = [] }

  /// The whole parts that `range` touches.
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
