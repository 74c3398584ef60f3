import PawlConfig
import PawlHTTP
import PawlStore
import PawlUpload

/// How an upload's content is described to its origin, and what it is wrapped in (`tus-forward`).
struct UploadShape {
  private(set) var prefix: [UInt8] = []
  private(set) var suffix: [UInt8] = []
  /// In place of the creation's; `nil`: that one stays.
  private(set) var contentType: [UInt8]?
  private(set) var disposition: [UInt8]?

  /// - Parameter metadata: what a tus client said of its file; hostile input.
  init(_ origin: UploadOrigin, metadata: TusMetadata?, _ settings: UploadSettings, id: UploadID) {
    guard origin.isTus else { return }
    let fileName = metadata?.fileName.flatMap(Self.safeName)
    let mediaType = metadata?.mediaType.flatMap(Self.safeType) ?? Array("application/octet-stream".utf8)
    contentType = mediaType
    guard let fileName, !origin.head.fields.contains(.contentDisposition) else { return }
    disposition = Self.disposition(fileName)
  }

  /// The last component, without controls.
  static func safeName(_ name: [UInt8]) -> String? {
    let text = String(decoding: name, as: UTF8.self).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
    let last = String(String.UnicodeScalarView(text)).split { $0 == "/" || $0 == "\\" }.last.map(String.init)
    guard let last, last != ".", last != ".." else { return nil }
    return last
  }

  /// `type/subtype` with parameters, in visible ASCII and blanks.
  static func safeType(_ type: [UInt8]) -> [UInt8]? {
    let essence = type.prefix { $0 != 0x3b }[...].trimmed
    let parts = essence.split(separator: 0x2f, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(OctetSet.token.contains) }),
      type.count <= 255, type.allSatisfy({ (0x20...0x7e).contains($0) })
    else { return nil }
    return Array(type[...].trimmed)
  }

  /// RFC 6266: a name in ASCII for everybody, and the whole one for those who read RFC 8187.
  static func disposition(_ name: String) -> [UInt8] {
    var output: [UInt8] = Array("inline; filename=\"".utf8)
    for scalar in name.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { output.append(0x5c) }
      output.append(scalar.isASCII ? UInt8(scalar.value) : UInt8(ascii: "_"))
    }
    output.append(0x22)
    guard !name.unicodeScalars.allSatisfy(\.isASCII) else { return output }
    output += Array("; filename*=UTF-8''".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    for octet in name.utf8 {
      if isAttributeCharacter(octet) {
        output.append(octet)
      } else {
        output += [0x25, digits[Int(octet >> 4)], digits[Int(octet & 15)]]
      }
    }
    return output
  }

  /// RFC 8187 §3.2.1 `attr-char`.
  private static func isAttributeCharacter(_ octet: UInt8) -> Bool {
    switch octet {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: "!#$&+-.^_`|~".utf8.contains(octet)
    }
  }
}

extension TusMetadata {
  fileprivate var fileName: [UInt8]? { value("filename") ?? value("name") }
  fileprivate var mediaType: [UInt8]? { value("filetype") ?? value("type") ?? value("contentType") }
  private func value(_ key: String) -> [UInt8]? { pairs.first { $0.key.elementsEqual(key.utf8) }?.value }
}
