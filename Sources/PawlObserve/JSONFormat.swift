import PawlBase

/// Writes a record as one JSON object on a line (RFC 8259), always with the same members in the same order. A missing value is
/// `null`.
extension [UInt8] {
  mutating func append(json record: AccessRecord) {
    append(text: "{\"time\":\"")
    append(timestamp: record.time)
    append(0x22)
    append(member: "remote", record.remote)
    append(member: "user", record.user)
    append(member: "method", record.method)
    append(member: "host", record.host)
    append(member: "target", record.target)
    if record.requestLine == nil {
      append(member: "version", literal: record.version)
    } else {
      append(member: "version", record.sentVersion.isEmpty ? nil : record.sentVersion)
    }
    append(member: "status", number: UInt64(clamping: record.status))
    append(member: "bytes", number: record.bytes)
    append(member: "duration_us", number: record.durationMicros)
    append(member: "referer", record.referer)
    append(member: "user_agent", record.userAgent)
    append(member: "request_id", record.requestID)
    append(member: "site", text: record.site)
    append(member: "upstream", text: record.upstream)
    append(member: "cache", optional: record.cacheOutcome)
    append(member: "bytes_from_cache", number: record.bytesFromCache)
    append(member: "bytes_from_origin", number: record.bytesFromOrigin)
    append(member: "bytes_resumed", number: record.bytesResumed)
    append(member: "bytes_replayed", number: record.bytesReplayed)
    append(member: "origin_resumes", number: UInt64(clamping: record.originResumes))
    append(member: "ended_by", text: record.endedBy.rawValue)
    append(member: "end_reason", optional: record.endReason)
    append(member: "tls", optional: record.tlsVersion)
    append(member: "tls_cipher", optional: record.tlsCipher)
    append(member: "client_subject", optional: record.clientSubject)
    append(0x7d)
  }

  private mutating func append(memberName name: StaticString) {
    append(text: ",\"")
    append(text: name)
    append(text: "\":")
  }

  private mutating func append(member name: StaticString, number: UInt64) {
    append(memberName: name)
    append(decimal: number)
  }

  private mutating func append(member name: StaticString, literal: StaticString) {
    append(memberName: name)
    append(0x22)
    literal.withUTF8Buffer { append(jsonBytes: $0) }
    append(0x22)
  }

  private mutating func append(member name: StaticString, optional literal: StaticString?) {
    guard let literal else { return append(member: name, optional: nil as String?) }
    append(member: name, literal: literal)
  }

  private mutating func append(member name: StaticString, optional text: String?) {
    guard let text else {
      append(memberName: name)
      return append(text: "null")
    }
    append(member: name, text: text)
  }

  private mutating func append(member name: StaticString, text: String) {
    append(memberName: name)
    append(0x22)
    append(jsonBytes: text.utf8)
    append(0x22)
  }

  private mutating func append(member name: StaticString, _ bytes: ArraySlice<UInt8>?) {
    append(memberName: name)
    guard let bytes else { return append(text: "null") }
    append(0x22)
    append(jsonBytes: bytes)
    append(0x22)
  }

  /// Appends the bytes of a JSON string. Well-formed UTF-8 stays as it is. Any other byte is written as the character with that
  /// number (ISO 8859-1, the usual encoding of bytes above 0x7f in fields), so that the line is valid JSON for any client input.
  mutating func append(jsonBytes bytes: some Collection<UInt8>) {
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) {
      return append(contentsOf: bytes)
    }
    let bytes = Array(bytes)
    var index = 0
    while index < bytes.count {
      let length = bytes.utf8SequenceLength(at: index)
      if length > 1 {
        append(contentsOf: bytes[index..<(index + length)])
      } else {
        append(jsonByte: bytes[index])
      }
      index += Swift.max(length, 1)
    }
  }

  private mutating func append(jsonByte byte: UInt8) {
    switch byte {
    case 0x22, 0x5c: append(contentsOf: [0x5c, byte])
    case 0x20..<0x7f: append(byte)
    default:
      append(text: "\\u00")
      append(hexadecimal: byte, uppercase: false)
    }
  }

  /// Returns the length of the well-formed UTF-8 sequence that begins here (Unicode, table 3-7); 0 if there is none.
  private func utf8SequenceLength(at index: Int) -> Int {
    let lead = self[index]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xbf
    switch lead {
    case 0..<0x80: return 1
    case 0xc2...0xdf: length = 2
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: length = 3
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    case 0xf1...0xf3: length = 4
    default: return 0
    }
    guard index + length <= count, second.contains(self[index + 1]) else { return 0 }
    return self[(index + 2)..<(index + length)].allSatisfy { $0 & 0xc0 == 0x80 } ? length : 0
  }
}
