import PawlBase

/// Writes nginx's `combined` format:
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
    append(decimal: UInt64(clamping: record.statusForNginx), width: 3)
    append(0x20)
    append(decimal: record.bytes)
    append(text: " \"")
    append(nginx: record.referer)
    append(text: "\" \"")
    append(nginx: record.userAgent)
    append(0x22)
  }

  private mutating func append(requestLineOf record: AccessRecord) {
    if let line = record.requestLine { return append(nginx: line) }
    guard !record.method.isEmpty else { return append(0x2d) }
    append(nginx: record.method)
    append(0x20)
    append(nginx: record.target)
    append(0x20)
    append(text: record.version)
  }

  /// Appends a value as nginx writes it: `-` if there is none, and `\xHH` for `"`, `\`, control characters and bytes beyond
  /// ASCII.
  mutating func append(nginx bytes: ArraySlice<UInt8>?) {
    guard let bytes else { return append(0x2d) }
    guard bytes.contains(where: Self.isEscaped) else { return append(contentsOf: bytes) }
    for byte in bytes { append(nginxByte: byte) }
  }

  mutating func append(nginxByte byte: UInt8) {
    guard Self.isEscaped(byte) else { return append(byte) }
    append(0x5c)
    append(0x78)
    append(hexadecimal: byte, uppercase: true)
  }

  /// Appends a value as it is, but for control characters, which could end the line and begin another one: they are `\xHH`.
  mutating func append(visible bytes: ArraySlice<UInt8>) {
    func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f }
    guard bytes.contains(where: isControl) else { return append(contentsOf: bytes) }
    for byte in bytes { isControl(byte) ? append(nginxByte: byte) : append(byte) }
  }

  @inline(__always)
  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte &- 0x20 > 0x5e || byte == 0x22 || byte == 0x5c
  }
}
