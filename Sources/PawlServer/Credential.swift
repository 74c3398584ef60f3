import PawlHTTP

/// What of an `Authorization` value stays the same while one user goes on: of a bearer JWT its `iss` and `sub`, since
/// tokens are refreshed; of anything else the value.
enum Credential {
  static func identity(_ value: Bytes) -> [UInt8] {
    let value = value.trimmed
    guard let space = value.firstIndex(of: 0x20), value[..<space].equalsIgnoringCase("Bearer") else {
      return Array(value)
    }
    let token = value[(space + 1)...].trimmed
    let parts = token.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = base64url(parts[1]), let subject = string("sub", in: claims) else {
      return Array(value)
    }
    return Array("jwt".utf8) + [0] + (string("iss", in: claims) ?? []) + [0] + subject
  }

  /// The octets of a top-level string member of a JSON object, escapes as they stand. `nil` when the text is no
  /// object, or the member is missing, no string, or there twice.
  static func string(_ name: String, in json: [UInt8]) -> [UInt8]? {
    var scanner = JSONScanner(json)
    return scanner.topLevelString(Array(name.utf8))
  }

  static func base64url(_ text: Bytes) -> [UInt8]? {
    var output: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in text {
      let value: UInt32
      switch byte {
      case 0x41...0x5a: value = UInt32(byte - 0x41)
      case 0x61...0x7a: value = UInt32(byte - 0x61 + 26)
      case 0x30...0x39: value = UInt32(byte - 0x30 + 52)
      case 0x2d: value = 62
      case 0x5f: value = 63
      default: return nil
      }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return output
  }
}
