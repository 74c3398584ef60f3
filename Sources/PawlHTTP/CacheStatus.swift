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
    output.reserveCapacity(48)
    output.append("pawl" as StaticString)
    if hit { output.append("; hit" as StaticString) } else { appendForward(to: &output) }
    if let ttl {
      output.append("; ttl=" as StaticString)
      if ttl < 0 { output.append(0x2d) }
      output.append(decimal: min(ttl.magnitude, 999_999_999_999_999))
    }
    if !hit, stored { output.append("; stored" as StaticString) }
    if !hit, collapsed { output.append("; collapsed" as StaticString) }
    if let detail {
      output.append("; detail=" as StaticString)
      detail.withUTF8Buffer { output.append(structuredText: $0) }
    }
    return output
  }

  private func appendForward(to output: inout [UInt8]) {
    guard let fwd else { return }
    output.append("; fwd=" as StaticString)
    output.append(contentsOf: fwd.rawValue.utf8)
    if let fwdStatus {
      output.append("; fwd-status=" as StaticString)
      output.append(decimal: UInt64(max(fwdStatus, 0)))
    }
  }

  /// Adds the member after those of caches nearer to the origin.
  package func append(to fields: inout Fields) { fields.append(.cacheStatus, value) }

  package static func == (a: CacheStatus, b: CacheStatus) -> Bool { a.value == b.value }
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension [UInt8] {
  /// A token where it is one, else a string (RFC 9651 §3.3.3, §3.3.4). Octets no string may hold become `?`.
  mutating func append(structuredText text: some Collection<UInt8>) {
    if let first = text.first, first.isLetter, text.allSatisfy(OctetSet.token.contains) {
      append(contentsOf: text)
    } else {
      append(structuredString: text)
    }
  }

  /// A string (RFC 9651 §3.3.3). Octets no string may hold become `?`.
  mutating func append(structuredString text: some Collection<UInt8>) {
    append(0x22)
    for octet in text {
      if octet == 0x22 || octet == 0x5c { append(0x5c) }
      append(octet >= 0x20 && octet < 0x7f ? octet : 0x3f)
    }
    append(0x22)
  }
}
