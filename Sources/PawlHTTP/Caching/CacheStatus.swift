/// How pawl's cache handled a request; a member of `Cache-Status` (RFC 9211).
package struct CacheStatus: Hashable, Sendable {
  /// Why a request was sent to the origin (RFC 9211 §2.2).
  package enum ForwardReason: String, Hashable, Sendable, CaseIterable {
    case bypass, method, miss, request, stale, partial
    case uriMiss = "uri-miss"
    case varyMiss = "vary-miss"
  }

  /// Whether the answer came from the store. Then ``fwd``, ``fwdStatus``, ``stored`` and ``collapsed`` are not written.
  package var hit: Bool
  package var fwd: ForwardReason?
  /// The status of the origin's response, when the answer has another status.
  package var fwdStatus: Int?
  /// The remaining freshness in seconds; negative when stale.
  package var ttl: Int64?
  /// Whether the origin's response was stored.
  package var stored: Bool
  /// Whether the response to another request was used (request collapsing).
  package var collapsed: Bool
  /// Details for people.
  package var detail: StaticString?

  package init(
    hit: Bool = false, fwd: ForwardReason? = nil, fwdStatus: Int? = nil, ttl: Int64? = nil, stored: Bool = false,
    collapsed: Bool = false, detail: StaticString? = nil
  ) {
    (self.hit, self.fwd, self.fwdStatus, self.ttl) = (hit, fwd, fwdStatus, ttl)
    (self.stored, self.collapsed, self.detail) = (stored, collapsed, detail)
  }

  /// The member as it is sent: `pawl; hit; ttl=5`.
  package var value: [UInt8] {
    var output: [UInt8] = []
    output.append(atMost: room, write)
    return output
  }

  /// The most bytes of the member. Each byte of the detail may need a backslash.
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

  /// Appends the member after the members of caches nearer to the origin.
  package func append(to fields: inout Fields) { fields.append(.cacheStatus, atMost: room, writing: write) }

  package static func == (a: CacheStatus, b: CacheStatus) -> Bool { a.value == b.value }
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension [UInt8] {
  /// Appends a token if the text is one, else a string (RFC 9651 §3.3.3, §3.3.4). Bytes that no string may hold become `?`.
  mutating func append(structuredText text: some Collection<UInt8>) {
    if let first = text.first, first.isLetter, text.allSatisfy(ByteSet.token.contains) {
      append(contentsOf: text)
    } else {
      append(structuredString: text)
    }
  }

  /// Appends a string (RFC 9651 §3.3.3). Bytes that no string may hold become `?`.
  mutating func append(structuredString text: some Collection<UInt8>) {
    append(0x22)
    for byte in text {
      if byte == 0x22 || byte == 0x5c { append(0x5c) }
      append(byte >= 0x20 && byte < 0x7f ? byte : 0x3f)
    }
    append(0x22)
  }
}
