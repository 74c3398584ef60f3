/// What pawl's cache did with a request, as its member of `Cache-Status` (RFC 9211).
package struct CacheStatus: Hashable, Sendable {
  /// Why a request went to the origin (RFC 9211 §2.2).
  package enum ForwardReason: String, Hashable, Sendable, CaseIterable {
    case bypass, method, miss, request, stale, partial
    case uriMiss = "uri-miss"
    case varyMiss = "vary-miss"
  }

  /// Answered from what was stored. Then ``fwd``, ``fwdStatus``, ``stored`` and ``collapsed`` are not shown.
  package var hit: Bool
  package var fwd: ForwardReason?
  /// The origin's status, when it is not the one answered.
  package var fwdStatus: Int?
  /// Seconds of freshness left; negative when stale.
  package var ttl: Int64?
  /// The origin's answer was kept.
  package var stored: Bool
  /// The answer to another request was used.
  package var collapsed: Bool
  /// For people.
  package var detail: StaticString?

  package init(
    hit: Bool = false, fwd: ForwardReason? = nil, fwdStatus: Int? = nil, ttl: Int64? = nil, stored: Bool = false,
    collapsed: Bool = false, detail: StaticString? = nil
  ) {
    (self.hit, self.fwd, self.fwdStatus, self.ttl) = (hit, fwd, fwdStatus, ttl)
    (self.stored, self.collapsed, self.detail) = (stored, collapsed, detail)
  }

  /// `pawl; hit; ttl=5`
  package var value: [UInt8] {
    var output: [UInt8] = []
    output.append(atMost: room, write)
    return output
  }

  /// Everything at its longest, but for the detail, of which each byte may need a backslash.
  private var room: Int { 160 + 2 * (detail?.utf8CodeUnitCount ?? 0) }

  private func write(to output: inout ByteWriter) {
    output.put("pawl")
    if hit { output.put("; hit") } else { writeForward(to: &output) }
    if let ttl {
      output.put("; ttl=")
      if ttl < 0 { output.put(0x2d) }
      output.put(decimal: min(ttl.magnitude, 999_999_999_999_999))
    }
    if !hit, stored { output.put("; stored") }
    if !hit, collapsed { output.put("; collapsed") }
    if let detail {
      output.put("; detail=")
      var text: [UInt8] = []
      detail.withUTF8Buffer { text.append(structuredText: $0) }
      output.put(text)
    }
  }

  private func writeForward(to output: inout ByteWriter) {
    guard let fwd else { return }
    output.put("; fwd=")
    var word = fwd.rawValue
    word.withUTF8 { output.put($0) }
    if let fwdStatus {
      output.put("; fwd-status=")
      output.put(decimal: UInt64(max(fwdStatus, 0)))
    }
  }

  /// Adds the member after those of caches nearer to the origin.
  package func append(to fields: inout Fields) { fields.append(.cacheStatus, atMost: room, writing: write) }

  package static func == (a: CacheStatus, b: CacheStatus) -> Bool { a.value == b.value }
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension [UInt8] {
  /// A token where it is one, else a string (RFC 9651 §3.3.3, §3.3.4). Bytes no string may hold become `?`.
  mutating func append(structuredText text: some Collection<UInt8>) {
    if let first = text.first, first.isLetter, text.allSatisfy(ByteSet.token.contains) {
      append(contentsOf: text)
    } else {
      append(structuredString: text)
    }
  }

  /// A string (RFC 9651 §3.3.3). Bytes no string may hold become `?`.
  mutating func append(structuredString text: some Collection<UInt8>) {
    append(0x22)
    for byte in text {
      if byte == 0x22 || byte == 0x5c { append(0x5c) }
      append(byte >= 0x20 && byte < 0x7f ? byte : 0x3f)
    }
    append(0x22)
  }
}
