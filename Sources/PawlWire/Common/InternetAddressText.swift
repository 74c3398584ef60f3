import PawlBase

/// Parses literal addresses strictly: no leading zeros, no zone, no brackets (RFC 3986 §3.2.2).
enum InternetAddressText {
  /// The four bytes of an IPv4 address such as `192.0.2.1`.
  static func fourth(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let parts = text.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard part.count <= 3, part.first != 0x30 || part.count == 1,
        let value = part.strictDecimal.flatMap({ UInt8(exactly: $0) })
      else { return nil }
      bytes.append(value)
    }
    return bytes
  }

  /// The sixteen bytes of an IPv6 address such as `2001:db8::1`.
  static func sixth(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let gap = gap(in: text) else {
      guard let whole = groups(text, takesFourth: true), whole.count == 16 else { return nil }
      return whole
    }
    guard let front = groups(text[..<gap], takesFourth: false),
      let back = groups(text[(gap + 2)...], takesFourth: true), front.count + back.count <= 14
    else { return nil }
    return front + [UInt8](repeating: 0, count: 16 - front.count - back.count) + back
  }

  /// The index of the first `::`.
  private static func gap(in text: ArraySlice<UInt8>) -> Int? {
    text.indices.first { $0 + 1 < text.endIndex && text[$0] == 0x3a && text[$0 + 1] == 0x3a }
  }

  /// Groups of one to four hexadecimal digits with colons between them; the last may be an IPv4 address.
  private static func groups(_ text: ArraySlice<UInt8>, takesFourth: Bool) -> [UInt8]? {
    guard !text.isEmpty else { return [] }
    var bytes: [UInt8] = []
    let parts = text.split(separator: 0x3a, omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if takesFourth, index == parts.count - 1, part.contains(0x2e) {
        guard let last = fourth(part) else { return nil }
        bytes += last
      } else {
        guard let value = hexadecimal(part) else { return nil }
        bytes += [UInt8(value >> 8), UInt8(value & 0xff)]
      }
    }
    return bytes
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...4).contains(digits.count) else { return nil }
    var value = 0
    for digit in digits {
      guard let next = digit.hexValue else { return nil }
      value = value << 4 | Int(next)
    }
    return value
  }
}
