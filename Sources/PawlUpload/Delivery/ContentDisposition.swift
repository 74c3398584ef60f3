import PawlBase
import PawlHTTP

/// The `Content-Disposition` of an upload that is forwarded unchanged, not as a form (RFC 6266).
package enum ContentDisposition {
  /// Returns for example `inline; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt`: a name in ASCII for all recipients, and
  /// the complete name for those that support RFC 8187. `nil`: no safe name can be made from `fileName` (``FileName``).
  /// - Parameter fileName: the name as the client sent it.
  package static func inline(fileName: [UInt8]) -> [UInt8]? {
    guard let name = FileName.safe(fileName) else { return nil }
    var output: [UInt8] = []
    output.append("inline; filename=\"" as StaticString)
    for scalar in String(decoding: name, as: UTF8.self).unicodeScalars { output.append(fallback(scalar)) }
    output.append("\"; filename*=UTF-8''" as StaticString)
    for byte in name { output.append(extended: byte) }
    return output
  }

  /// Returns the ASCII character, or `_`. Quotes, backslashes and percent signs are replaced, too: recipients read them in
  /// different ways (RFC 6266, appendix D).
  private static func fallback(_ scalar: Unicode.Scalar) -> UInt8 {
    guard scalar.isASCII, scalar != "\"", scalar != "\\", scalar != "%" else { return 0x5f }
    return UInt8(truncatingIfNeeded: scalar.value)
  }
}

extension [UInt8] {
  /// Appends a byte of an extended value: unchanged if it is an `attr-char` (RFC 8187 §3.2.1), else percent-encoded.
  fileprivate mutating func append(extended byte: UInt8) {
    let isPlain = ByteSet.token.contains(byte) && byte != 0x25 && byte != 0x27 && byte != 0x2a
    if isPlain { append(byte) } else { append(percentEncoded: byte) }
  }

  mutating func append(percentEncoded byte: UInt8) {
    append(0x25)
    append(hexadecimal: byte, uppercase: true)
  }
}
