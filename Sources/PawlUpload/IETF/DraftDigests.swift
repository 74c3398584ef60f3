import PawlBase
package import PawlHTTP
import RawStructuredFieldValues

/// Parses `Content-Digest` and `Repr-Digest` (RFC 9530). The drafts name them up to -11; pawl checks them in every version
/// (UploadProtocols, "Digests").
extension RequestDigests {
  /// Reads the digests of a request in any version of the drafts.
  init(drafts head: RequestHead) {
    self.init()
    content = Self.claims(head.fields, .contentDigest)
    representation = Self.claims(head.fields, .reprDigest)
    isInTrailer = content.isEmpty && head.framing == .chunked && Self.announcesDigest(head.fields)
  }

  /// Returns those digests in one field whose algorithm pawl supports; none if the field does not parse (RFC 9651 §4.2). The
  /// other digests are skipped (RFC 9530 §2). A value of the wrong size is kept, and will not match.
  package static func claims(_ fields: Fields, _ name: FieldName) -> [DigestClaim] {
    let lines = fields.all(name)
    guard !lines.isEmpty else { return [] }
    var parser = StructuredFieldValueParser(Array(lines.joined(separator: [0x2c, 0x20])))
    do {
      return try parser.parseDictionaryFieldValue().compactMap { key, member in
        guard let algorithm = algorithm(key), case .item(let item) = member,
          case .undecodedByteSequence(let text) = item.rfc9651BareItem, let value = decoded(text)
        else { return nil }
        return DigestClaim(algorithm, value)
      }
    } catch {
      return []
    }
  }

  private static func announcesDigest(_ fields: Fields) -> Bool {
    fields.all(.trailer).contains { $0.listElements.contains { $0.equalsIgnoringCase("content-digest") } }
  }

  /// Returns the algorithm with this name in the registry (RFC 9530 §7.2).
  private static func algorithm(_ key: String) -> DigestAlgorithm? {
    switch key {
    case "sha-256": .sha256
    case "sha-512": .sha512
    case "sha": .sha1
    case "md5": .md5
    default: nil
    }
  }

  /// Decodes a byte sequence, with or without padding: RFC 9651 §4.2.7 accepts both.
  private static func decoded(_ text: String) -> [UInt8]? {
    var bytes = Array(text.utf8)
    while bytes.last == 0x3d { bytes.removeLast() }
    bytes += [UInt8](repeating: 0x3d, count: (4 - bytes.count % 4) % 4)
    return Base64.decode(bytes[...])
  }
}
