/// The template of a form field of a `multipart` delivery, `NAME=TEMPLATE` (`tus-form`). In the template, `{title}` is replaced by
/// the value of the key `title` in the upload's metadata, and `{{` by `{`.
package struct FormTemplate: Hashable, Sendable {
  private enum Piece: Hashable, Sendable {
    case text([UInt8])
    case key([UInt8])
  }

  package let name: [UInt8]
  private let pieces: [Piece]

  /// Parses a template. `nil`: there is no field name, a brace is not closed, or there is nothing between the braces.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let equals = bytes.firstIndex(of: 0x3d), equals > 0 else { return nil }
    name = Array(bytes[..<equals])
    var pieces: [Piece] = []
    var plain: [UInt8] = []
    var index = equals + 1
    while index < bytes.endIndex {
      if bytes[index] != 0x7b || bytes[index...].starts(with: "{{".utf8) {
        plain.append(bytes[index])
        index += bytes[index] == 0x7b ? 2 : 1
        continue
      }
      guard let close = bytes[index...].firstIndex(of: 0x7d), close > index + 1 else { return nil }
      pieces += [.text(plain), .key(Array(bytes[(index + 1)..<close]))]
      plain = []
      index = close + 1
    }
    self.pieces = pieces + [.text(plain)]
  }

  /// Returns the value of the field. A key that is not in the metadata yields an empty text.
  package func value(_ metadata: TusMetadata?) -> [UInt8] {
    var output: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .text(let text): output += text
      case .key(let key): output += metadata?.pairs.first { $0.key == key }?.value ?? []
      }
    }
    return output
  }
}
