import PawlHTTP

extension FuzzTarget {
  /// Range requests: what is chosen lies in the representation, in bounds, and is written as it was meant.
  static let ranges = [
    FuzzTarget(name: "ranges", run: ranges), FuzzTarget(name: "content-range", run: contentRange),
  ]

  @Sendable private static func ranges(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let shift = input.number(below: 65)
    let length = shift == 64 ? UInt64.max - 1 : input.word() >> UInt64(shift) % (UInt64.max - 1)
    let value = input.text[...]
    let single = RangeField.single(value, length: length)
    guard let field = RangeField(value) else {
      if single != nil { breach("a single range where there is no range") }
      return
    }
    let selection = RangeSelection(field, length: length, maxRanges: 16)
    if let single, selection != .single(single) { breach("the short way chooses \(single), not \(selection)") }
    switch selection {
    case .whole: break
    case .unsatisfiable:
      if field.specs.contains(where: { isSatisfiable($0, length) }) { breach("it could be satisfied") }
    case .single(let range): check([range], length)
    case .several(let ranges):
      if ranges.count < 2 { breach("not several") }
      check(ranges, length)
      checkParts(ranges, length)
    }
  }

  private static func isSatisfiable(_ spec: RangeSpec, _ length: UInt64) -> Bool {
    switch spec {
    case .from(let first, _): first < length
    case .suffix(let count): count > 0
    }
  }

  private static func check(_ ranges: [ByteRange], _ length: UInt64) {
    var sum: UInt64 = 0
    for range in ranges {
      if range.first > range.last || range.last >= length { breach("\(range) of \(length)") }
      let (total, overflow) = sum.addingReportingOverflow(range.count)
      if overflow || total > length { breach("more bytes than there are") }
      sum = total
    }
    let sorted = ranges.sorted { $0.first < $1.first }
    for (a, b) in zip(sorted, sorted.dropFirst()) where a.last >= b.first { breach("\(a) and \(b) overlap") }
  }

  private static func checkParts(_ ranges: [ByteRange], _ length: UInt64) {
    let parts = MultipartRanges(ranges: ranges, total: length, contentType: Bytes("a/b"), boundary: Array("xyz".utf8))
    for (index, range) in ranges.enumerated() {
      let head = parts.head(of: index)
      guard let line = head.split(separator: 0x0a).first(where: { $0.starts(with: "Content-Range: ".utf8) }),
        case .satisfied(let satisfied)? = ContentRange.parse(line.dropFirst(15).dropLast())
      else { breach("a part without Content-Range") }
      if satisfied.range != range || satisfied.total != length { breach("a part says \(satisfied)") }
    }
  }

  @Sendable private static func contentRange(_ bytes: [UInt8]) {
    guard let parsed = ContentRange.parse(bytes[...]) else { return }
    switch parsed {
    case .satisfied(let satisfied):
      guard let total = satisfied.total else { return }
      if satisfied.range.last >= total { breach("beyond its end") }
      let again = ContentRange.parse(ContentRange.format(satisfied.range, total: total)[...])
      if again != parsed { breach("written again, it differs") }
    case .unsatisfied(let total):
      guard let total else { return }
      if ContentRange.parse(ContentRange.unsatisfied(total: total)[...]) != parsed {
        breach("written again, it differs")
      }
    }
  }
}
