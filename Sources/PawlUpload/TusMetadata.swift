/// tus `Upload-Metadata` (tus 1.0.0, creation): what a client says of its file. Hostile input.
package struct TusMetadata: Hashable, Sendable {
  package struct Pair: Hashable, Sendable {
    package var key: [UInt8]
    package var value: [UInt8]
  }
  /// As it was given.
  package let field: [UInt8]
  /// Decoded, in order.
  package let pairs: [Pair]
}

/// tus `Upload-Concat` (tus 1.0.0, concatenation).
package enum TusConcat: Hashable, Sendable {
  case partial
  /// The URLs of the parts, as they were given.
  case final([[UInt8]])
}
