import PawlCache
import PawlHTTP

/// Encodes an ``UploadOrigin`` as bytes for the catalogue.
extension UploadOrigin {
  private static let formatVersion: UInt8 = 3
  /// The older format, without ``prefix`` and ``largest``.
  private static let versionWithoutPrefix: UInt8 = 2
  /// The oldest format, which also lacks ``parts``.
  private static let versionWithoutParts: UInt8 = 1

  func serialize() -> [UInt8] {
    var output: [UInt8] = [prefix == nil ? Self.versionWithoutPrefix : Self.formatVersion]
    output.append(string: head.method.bytes[...])
    output.append(string: head.target)
    output.append(string: head.authority)
    output.append(head.version.major << 4 | head.version.minor)
    switch head.framing {
    case .none: output.append(number: 0)
    case .chunked, .untilClose: output.append(number: 1)
    case .length(let count):
      output.append(number: 2)
      output.append(number: count)
    }
    output.append(fields: head.fields)
    for text in [scheme, clientAddress, owner, client] { output.append(string: text[...]) }
    output.append(number: UInt64(port))
    for flag in [peerIsTrusted, isTus] { output.append(flag ? 1 : 0) }
    output.append(number: UInt64(concatenation.rawValue))
    for text in [metadata, concat] {
      output.append(text == nil ? 0 : 1)
      output.append(string: (text ?? [])[...])
    }
    output.append(number: UInt64(parts.count))
    for part in parts {
      output.append(number: part.high)
      output.append(number: part.low)
    }
    if let prefix {
      output.append(string: prefix[...])
      output.append(number: largest)
    }
    return output
  }

  /// Decodes what ``serialize()`` wrote. `nil`: the bytes have an unknown version, are incomplete, or are followed by other bytes.
  init?(serialized: [UInt8]) {
    var reader = ByteReader(rest: serialized[...])
    guard let version = reader.byte(), (Self.versionWithoutParts...Self.formatVersion).contains(version),
      let head = reader.requestHead(), let scheme = reader.string(),
      let address = reader.string(), let owner = reader.string(), let client = reader.string(),
      let port = reader.number(), port <= UInt64(UInt16.max), let isTrusted = reader.byte(),
      let isTus = reader.byte(),
      let kind = reader.number(), let concatenation = Concatenation(rawValue: Int64(clamping: kind)),
      let metadata = reader.optionalString(), let concat = reader.optionalString(),
      let parts = version == Self.versionWithoutParts ? [] : reader.identifiers(),
      let prefix = version == Self.formatVersion ? reader.string() : [],
      let largest = version == Self.formatVersion ? reader.number() : 0, reader.rest.isEmpty
    else { return nil }
    self.init(
      head: head, scheme: Array(scheme), clientAddress: Array(address), peerIsTrusted: isTrusted == 1,
      port: UInt16(port), owner: Array(owner), client: Array(client), isTus: isTus == 1, metadata: metadata.text,
      concat: concat.text, concatenation: concatenation,
      prefix: version == Self.formatVersion ? Array(prefix) : nil)
    (self.parts, self.largest) = (parts, largest)
  }
}

/// A decoded string that may be missing. A missing string is valid; a malformed one is not.
private struct OptionalText { let text: [UInt8]? }

extension ByteReader {
  fileprivate mutating func requestHead() -> RequestHead? {
    guard let method = string(), let target = string(), let authority = string(), let version = byte(),
      let kind = number()
    else { return nil }
    var framing = BodyFraming.none
    switch kind {
    case 0: break
    case 1: framing = .chunked
    case 2:
      guard let count = number() else { return nil }
      framing = .length(count)
    default: return nil
    }
    guard let fields = fields() else { return nil }
    return RequestHead(
      method: Method(method), target: Array(target)[...], authority: Array(authority)[...],
      version: HTTPVersion(major: max(1, version >> 4), minor: version & 15), fields: fields, framing: framing)
  }

  fileprivate mutating func identifiers() -> [UploadID]? {
    guard let count = number() else { return nil }
    var found: [UploadID] = []
    for _ in 0..<count {
      guard let high = number(), let low = number() else { return nil }
      found.append(UploadID(high: high, low: low))
    }
    return found
  }

  fileprivate mutating func optionalString() -> OptionalText? {
    guard let isThere = byte(), let text = string() else { return nil }
    return OptionalText(text: isThere == 1 ? Array(text) : nil)
  }
}

/// Encodes fields: the credentials, and the fields of an answer.
enum FieldsCoding {
  static func serialize(_ fields: Fields) -> [UInt8] {
    var output: [UInt8] = []
    output.append(fields: fields)
    return output
  }

  static func fields(_ bytes: [UInt8]) -> Fields? {
    var reader = ByteReader(rest: bytes[...])
    guard let fields = reader.fields(), reader.rest.isEmpty else { return nil }
    return fields
  }
}
