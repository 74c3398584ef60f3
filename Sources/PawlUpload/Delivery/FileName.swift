import PawlHTTP

/// Makes safe file names from the names that clients send.
package enum FileName {
  /// The longest file name in bytes of UTF-8, as in most file systems.
  static let longest = 255

  /// Returns the last path component, without control characters, as valid UTF-8 of at most 255 bytes. A longer name loses bytes,
  /// but keeps its ending (such as `.txt`). `nil`: what is left cannot be the name of a file.
  package static func safe(_ name: [UInt8]) -> [UInt8]? {
    let scalars = String(decoding: name, as: UTF8.self).unicodeScalars.filter { !isControl($0) }
    guard let last = scalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
    let text = String(String.UnicodeScalarView(last))
    guard text != ".", text != "..", text.utf8.contains(where: { $0 != 0x20 }) else { return nil }
    return shortened(Array(text.utf8))
  }

  /// Whether a character is a control character (C0, DEL, C1), a line separator, or one that changes the direction of text. A
  /// change of direction could make `exe` look like another ending.
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
    // If the cut is within a character, drop its continuation bytes and its first byte.
    if name[stem.endIndex] & 0xc0 == 0x80 {
      while let byte = stem.last, byte & 0xc0 == 0x80 { stem.removeLast() }
      stem = stem.dropLast()
    }
    return Array(stem + ending)
  }
}
