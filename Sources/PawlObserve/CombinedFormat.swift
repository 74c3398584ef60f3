import PawlBase

/// nginx's `combined`:
/// `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`.
extension [UInt8] {
  mutating func append(combined record: AccessRecord, time: [UInt8]) {
    append(nginx: record.remote)
    append(text: " - ")
    append(nginx: record.user)
    append(text: " [")
    append(contentsOf: time)
    append(text: "] \"")
    append(requestLineOf: record)
    append(text: "\" ")
    append(decimal: UInt64(clamping: record.status), width: 3)
    append(0x20)
    append(decimal: record.bytes)
    append(text: " \"")
    append(nginx: record.referer)
    append(text: "\" \"")
    append(nginx: record.userAgent)
    append(text: "\"\n")
  }

  private mutating func append(requestLineOf record: AccessRecord) {
    guard !record.method.isEmpty else { return append(0x2d) }
    append(nginx: record.method)
    append(0x20)
    append(nginx: record.target)
    append(0x20)
    append(text: record.version)
  }

  /// What nginx writes for a variable: `-` when there is none, and `\xHH` for `"`, `\`, controls and anything beyond ASCII.
  private mutating func append(nginx octets: ArraySlice<UInt8>?) {
    guard let octets else { return append(0x2d) }
    guard octets.contains(where: Self.isEscaped) else { return append(contentsOf: octets) }
    for octet in octets {
      if Self.isEscaped(octet) {
        append(contentsOf: [0x5c, 0x78])
        append(hexadecimal: octet, uppercase: true)
      } else {
        append(octet)
      }
    }
  }

  @inline(__always)
  private static func isEscaped(_ octet: UInt8) -> Bool {
    octet &- 0x20 > 0x5e || octet == 0x22 || octet == 0x5c
  }
}
