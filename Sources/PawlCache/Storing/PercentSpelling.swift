import PawlBase
package import PawlHTTP

/// The spellings of a target that name the same resource. They differ in the case of hexadecimal digits, and in unreserved
/// characters that are percent-encoded without need (RFC 3986 §6.2.2.1, §6.2.2.2). Each spelling has its own cache key, so an
/// invalidation covers several keys.
package enum PercentSpelling {
  /// The normal form of all spellings. Percent signs that encode nothing stay as they are, and encoded reserved characters stay
  /// encoded.
  package static func normalised(_ text: Bytes) -> Bytes {
    guard text.contains(percent) else { return text }
    return respelt(text, uppercase: true)
  }

  /// The spellings that clients use for a target: first the given one, then the normal form with the hexadecimal digits as
  /// capital and as small letters.
  static func common(of target: Bytes) -> [Bytes] {
    guard target.contains(percent) else { return [target] }
    var found = [target]
    for isUppercase in [true, false] {
      let spelling = respelt(target, uppercase: isUppercase)
      if !found.contains(spelling) { found.append(spelling) }
    }
    return found
  }

  private static let percent: UInt8 = 0x25

  private static func respelt(_ text: Bytes, uppercase: Bool) -> Bytes {
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      guard byte == percent, index + 2 < text.endIndex, let high = text[index + 1].hexValue,
        let low = text[index + 2].hexValue
      else {
        output.append(byte)
        index += 1
        continue
      }
      let decoded = high << 4 | low
      if isUnreserved(decoded) {
        output.append(decoded)
      } else {
        output.append(percent)
        output.append(hexadecimal: decoded, uppercase: uppercase)
      }
      index += 3
    }
    return output[...]
  }

  /// Whether a character is unreserved (RFC 3986 §2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
    default: false
    }
  }
}
