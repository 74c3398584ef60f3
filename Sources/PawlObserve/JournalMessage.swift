import PawlBase

/// Appends the fields of a message to systemd's journal, in its native protocol: `NAME=value` on a line of its own, or, where the
/// value has a line end, the name, the length and the value.
extension [UInt8] {
  /// Appends the fields that every message of pawl has: its text, priority and program.
  mutating func append(journalText text: some Collection<UInt8>, _ level: LogLevel, event: StaticString) {
    append(journalField: "MESSAGE", text)
    append(text: "PRIORITY=")
    append(decimal: level.severity)
    append(text: "\nSYSLOG_IDENTIFIER=pawl\nPAWL_EVENT=")
    append(text: event)
    append(0x0a)
  }

  /// Appends the field `PAWL_KEY`: the key in capitals, with `_` for `-`.
  mutating func append(journalKey key: StaticString, _ value: some Collection<UInt8>) {
    append(text: "PAWL_")
    key.withUTF8Buffer { for byte in $0 { append(Self.capital(byte)) } }
    append(journalValue: value)
  }

  private static func capital(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0x61...0x7a: byte - 0x20
    case 0x2d: 0x5f
    default: byte
    }
  }

  private mutating func append(journalField name: StaticString, _ value: some Collection<UInt8>) {
    append(text: name)
    append(journalValue: value)
  }

  /// Appends the value of a field whose name is written already, and a line end.
  private mutating func append(journalValue value: some Collection<UInt8>) {
    if value.contains(0x0a) {
      append(0x0a)
      for shift in 0..<8 { append(UInt8(truncatingIfNeeded: UInt64(value.count) >> UInt64(8 * shift))) }
    } else {
      append(0x3d)
    }
    append(contentsOf: value)
    append(0x0a)
  }
}

extension [UInt8] {
  /// Appends the values of a request as fields, named as the members of the JSON format; values that are missing are left out.
  mutating func append(journal record: AccessRecord) {
    append(journalKey: "remote", record.remote)
    if let user = record.user { append(journalKey: "user", user) }
    if !record.method.isEmpty {
      append(journalKey: "method", record.method)
      append(journalKey: "target", record.target)
    }
    if !record.host.isEmpty { append(journalKey: "host", record.host) }
    append(journalKey: "status", number: UInt64(clamping: record.status))
    append(journalKey: "bytes", number: record.bytes)
    append(journalKey: "duration_us", number: record.durationMicros)
    if !record.requestID.isEmpty { append(journalKey: "request", record.requestID) }
    if !record.site.isEmpty { append(journalKey: "site", record.site.utf8) }
    if !record.upstream.isEmpty { append(journalKey: "upstream", record.upstream.utf8) }
    if let outcome = record.cacheOutcome { append(journalKey: "cache", outcome.utf8) }
    append(journalKey: "bytes_from_cache", number: record.bytesFromCache)
    append(journalKey: "bytes_from_origin", number: record.bytesFromOrigin)
    append(journalKey: "origin_resumes", number: UInt64(clamping: record.originResumes))
    append(journalKey: "ended_by", record.endedBy.rawValue.utf8)
    if let reason = record.endReason { append(journalKey: "end_reason", reason.utf8) }
  }

  private mutating func append(journalKey key: StaticString, number: UInt64) {
    var digits: [UInt8] = []
    digits.append(decimal: number)
    append(journalKey: key, digits)
  }
}
