import PawlBase
package import PawlHTTP

/// The field `Upload-Metadata` of tus (tus 1.0.0, creation), with which a client describes its file. Untrusted input.
package struct TusMetadata: Hashable, Sendable {
  package struct Pair: Hashable, Sendable {
    package var key: [UInt8]
    package var value: [UInt8]
  }
  /// The field as it was sent.
  package let field: [UInt8]
  /// The pairs, decoded and in order.
  package let pairs: [Pair]

  /// The most bytes of the field, and the most pairs in it.
  static let longest = 16 << 10
  static let mostPairs = 128

  /// Parses pairs that are separated by commas. A pair is a key, a space, and the value in Base64; if the value is empty, the space
  /// may be missing. The complete field may be empty, too: the Python client tuspy sends an empty field if there is no metadata.
  /// - Throws: ``UploadRefusal/malformed(_:)``.
  package init(_ value: Bytes) throws(UploadRefusal) {
    guard value.count <= Self.longest else { throw .malformed("Upload-Metadata is too long.") }
    var pairs: [Pair] = []
    var keys: Set<[UInt8]> = []
    let isEmpty = value.trimmed.isEmpty
    for element in isEmpty ? [] : value.split(separator: 0x2c, omittingEmptySubsequences: false) {
      let pair = try Self.pair(element)
      guard keys.insert(pair.key).inserted else { throw .malformed("A key of Upload-Metadata comes more than once.") }
      pairs.append(pair)
      guard pairs.count <= Self.mostPairs else { throw .malformed("Upload-Metadata has too many keys.") }
    }
    (field, self.pairs) = (Array(value), pairs)
  }

  /// Parses a pair. Spaces and tabs around the pair are ignored, because there are spaces after the commas if several lines of the
  /// field were joined (RFC 9110 §5.3). So the space after a key without a value is ignored, too.
  private static func pair(_ element: Bytes) throws(UploadRefusal) -> Pair {
    let parts = element.trimmed.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty else { throw .malformed("A key of Upload-Metadata is empty.") }
    guard key.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw .malformed("A key of Upload-Metadata is not visible ASCII.")
    }
    guard parts.count > 1 else { return Pair(key: Array(key), value: []) }
    guard let value = Base64.decode(parts[1]) else { throw .malformed("A value of Upload-Metadata is not Base64.") }
    return Pair(key: Array(key), value: value)
  }

  package func value(_ key: String) -> [UInt8]? { pairs.first { $0.key.elementsEqual(key.utf8) }?.value }

  /// The name of the file as the client sent it; ``FileName`` makes a safe name from it.
  package var fileName: [UInt8]? { first(of: ["filename", "name", "fileName"]) }

  /// The media type of the file, if the client sent a valid one (RFC 9110 §8.3.1), so that it can be used in a field.
  package var mediaType: [UInt8]? {
    guard let value = first(of: ["filetype", "type", "contentType", "content-type", "mimetype", "mimeType"]) else {
      return nil
    }
    let parts = MediaType.essence(value[...]).split(separator: 0x2f, omittingEmptySubsequences: false)
    guard value.count <= 255, value.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }), parts.count == 2,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(ByteSet.token.contains) })
    else { return nil }
    return Array(value[...].trimmed)
  }

  private func first(of keys: [String]) -> [UInt8]? {
    for key in keys {
      if let value = value(key), !value.isEmpty { return value }
    }
    return nil
  }
}
