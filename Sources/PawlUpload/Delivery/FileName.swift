import PawlHTTP

/// File names that clients give, made harmless.
package enum FileName {
  /// Bytes of UTF-8; what file systems take.
  static let longest = 255

  /// The last component, without controls, as valid UTF-8 of at most 255 bytes with its ending kept.
  /// `nil` when nothing is left that names a file.
  package static func safe(_ name: [UInt8]) -> [UInt8]? {
    let scalars = String(decoding: name, as: UTF8.self).unicodeScalars.filter { !isControl($0) }
    guard let last = scalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
    let text = String(String.UnicodeScalarView(last))
    guard text != ".", text != "..", text.utf8.contains(where: { $0 != 0x20 }) else { return nil }
    return shortened(Array(text.utf8))
  }

  /// C0, DEL, C1, and what turns the direction of text, so that `exe` reads like something else.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1f, 0x7f...0x9f, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private static func shortened(_ name: [UInt8]) -> [UInt8] {
    guard name.count > longest else { return name }
    let dot = name.lastIndex(of: 0x2e) ?? name.endIndex
    let ending = name.count - dot <= 16 ? name[dot...] : []
    var stem = name[..<(longest - ending.count)]
    // No half of a character: drop continuation bytes and what they follow.
    if name[stem.endIndex] & 0xc0 == 0x80 {
      while let byte = stem.last, byte & 0xc0 == 0x80 { stem.removeLast() }
      stem = stem.dropLast()
    }
    return Array(stem + ending)
  }
}
