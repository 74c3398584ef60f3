import PawlHTTP
import Testing

/// A small generator with a fixed seed, so that a failure comes back.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

@Suite("Hostile input") struct HostileInputTests {
  private static let seeds = [
    "bytes=0-5,7-,-3", "bytes 0-4/10", "bytes */10", "\"a\", W/\"b\", *", "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "max-age=60, private=\"a, b\", no-store",
    "max-age=1;a=b, private=\"x\", no-cache", "Accept-Encoding, *", "gzip;q=1.0, br ; q=0.5", "close, X-Hop, upgrade",
    "[2001:db8::1]:443", "example.org:80", "http://a:80/b?c", "1.1 pawl (x), 2 b", "99999999999999999999-",
  ]

  private func mutate(_ random: inout SplitMix) -> Bytes {
    var bytes = Array((Self.seeds.randomElement(using: &random) ?? "").utf8)
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.insert(.random(in: 0...255, using: &random), at: place)
      case 1: if place < bytes.count { bytes.remove(at: place) }
      case 2: bytes.removeSubrange(place...)
      case 3: bytes += Array((Self.seeds.randomElement(using: &random) ?? "").utf8)
      default:
        if place < bytes.count { bytes[place] = Array("\",;=-*/:[]() \\%09".utf8).randomElement(using: &random) ?? 0 }
      }
    }
    return ([0x22] + bytes + [0x22])[1..<bytes.count + 1]
  }

  @Test("no value traps a parser, and what was read is sound", arguments: [1, 2, 3, 4] as [UInt64])
  func survives(_ seed: UInt64) throws {
    var random = SplitMix(state: seed)
    for _ in 0..<1_500 {
      let value = mutate(&random)
      let length = [0, 1, 10, 1000, UInt64(Int64.max), .max].randomElement(using: &random) ?? 0
      if let field = RangeField(value) {
        try checkSelection(RangeSelection(field, length: length, maxRanges: 16), length)
      }
      if let tag = EntityTag(value) { #expect(tag.bytes == Array(value)) }
      if let date = HTTPDate.parse(value) { #expect(HTTPDate.parse(HTTPDate.format(date)[...]) == date) }
      if let host = Authority.parseHost(value) { #expect(Authority.parseHost(host) == host) }
      if case .satisfied(let part) = ContentRange.parse(value), let total = part.total {
        #expect(part.range.end <= total)
      }
      if let target = RequestTarget.parse(value, method: .get) { #expect(target.forwarded.first == 0x2f) }
      touchWholeMessages(with: value)
    }
  }

  private func checkSelection(_ selection: RangeSelection, _ length: UInt64) throws {
    switch selection {
    case .whole, .unsatisfiable: break
    case .single(let range): #expect(range.end <= length)
    case .several(let ranges):
      #expect(ranges.count > 1 && ranges.allSatisfy { $0.end <= length })
      let sorted = ranges.sorted { $0.first < $1.first }
      #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.end < $1.first })
    }
  }

  private func touchWholeMessages(with value: Bytes) {
    var message = Fields()
    for name in FieldName.allCases where name != .other { message.append(name, value) }
    _ = Validators(message, receivedAt: 0)
    _ = IfRange(message)
    _ = CacheControl(message)
    _ = TargetedCacheControl.parse(cdn: [value, value])
    _ = Age.parse(message)
    _ = VaryRule(message).selectingValues(in: message)
    _ = Via.occurrences(of: "pawl", in: message)
    _ = evaluatePreconditions(
      RequestHead(method: .get, target: value, fields: message), validators: Validators(), isMatch: { _, _ in true })
    HopByHop.strip(&message)
    applyForwarded(to: &message, client: value, scheme: "http", host: value, port: 1, peerIsTrusted: true)
  }
}
