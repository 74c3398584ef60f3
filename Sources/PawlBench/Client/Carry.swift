/// Bytes that were received but cannot be parsed yet are kept in an array until more have come.
extension [UInt8] {
  /// Returns the kept bytes and empties the array. The caller puts back the bytes that it still cannot parse.
  mutating func takeKept() -> [UInt8] {
    var kept: [UInt8] = []
    swap(&kept, &self)
    return kept
  }
}
