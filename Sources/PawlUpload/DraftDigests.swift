package import PawlHTTP
import RawStructuredFieldValues

/// `Content-Digest` and `Repr-Digest` (RFC 9530), which the drafts name up to -11 and any client may send.
extension RequestDigests {
  /// What a request in the drafts claims, whatever its version.
  init(drafts head: RequestHead) {
    self.init()
    content = Self.claims(head.fields, .contentDigest)
    representation = Self.claims(head.fields, .reprDigest)
    isInTrailer = content.isEmpty && head.framing == .chunked && Self.announcesDigest(head.fields)
  }

  /// The claims of a digest field that pawl can check; none when the field does not parse (RFC 9651 §4.2). Algorithms
  /// that are not known are passed over (RFC 9530 §2). A value of the wrong size stays, and matches nothing.
  package static func claims(_ fields: Fields, _ name: FieldName) -> [DigestClaim] {
    let lines = fields.all(name)
    guard !lines.isEmpty else { return [] }
    var parser = StructuredFieldValueParser(Array(lines.joined(separator: [0x2c, 0x20])))
    do {
      return try parser.parseDictionaryFieldValue().compactMap { key, member in
        guard let algorithm = algorithm(key), case .item(let item) = member,
          case .undecodedByteSequence(let text) = item.rfc9651BareItem, let value = decoded(text.utf8)
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

  /// The registry's name (RFC 9530 §7.2).
  private static func algorithm(_ key: String) -> DigestAlgorithm? {
    switch key {
    case "sha-256": .sha256
    case "sha-512": .sha512
    case "sha": .sha1
    case "md5": .md5
    default: nil
    }
  }

  /// Base64 (RFC 4648 §4), padded or not: RFC 9651 §4.2.7 takes both.
  private static func decoded(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
    var (output, word, bits) = ([UInt8](), UInt32(0), 0)
    var digits = text[...]
    while digits.last == 0x3d { digits.removeLast() }
    for octet in digits {
      guard let digit = digit(octet) else { return nil }
      (word, bits) = (word << 6 | digit, bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      output.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
      word &= (1 << UInt32(bits)) - 1
    }
    return bits == 6 ? nil : output
  }

  private static func digit(_ octet: UInt8) -> UInt32? {
    switch octet {
    case 0x41...0x5a: UInt32(octet) - 0x41
    case 0x61...0x7a: UInt32(octet) - 0x61 + 26
    case 0x30...0x39: UInt32(octet) - 0x30 + 52
    case 0x2b: 62
    case 0x2f: 63
    default: nil
    }
  }
}
