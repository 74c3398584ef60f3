/// What came and could not be looked at yet is kept in an array until more has come.
extension [UInt8] {
  /// What was kept; nothing is kept from now on but what the caller finds too short again.
  mutating func takeKept() -> [UInt8] {
    var kept: [UInt8] = []
    swap(&kept, &self)
    return kept
  }
}
