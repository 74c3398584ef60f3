/// Why an upload request is not done. One place maps each to a status and its fields: the dialects.
package enum UploadRefusal: Error, Hashable, Sendable {
  /// What was sent cannot be understood; the sentence says what.
  case malformed(StaticSentence)
  /// tus: a version other than 1.0.0.
  case unsupportedTusVersion
  case notFound
  case gone
  /// The content begins elsewhere than where the upload ends.
  case wrongOffset(provided: UInt64)
  case wrongMediaType
  /// Declared lengths contradict each other.
  case inconsistentLength
  /// Content beyond the declared length.
  case tooLong
  /// Larger than is ever taken.
  case tooLarge
  /// No room now; seconds.
  case noSpace(retryAfter: Int)
  case tooManyUploads(retryAfter: Int)
  /// Content for an upload that has all of its bytes.
  case alreadyComplete
  case digestMismatch
  case unknownDigest
  /// tus: content for the concatenation of other uploads.
  case modifiesFinal
  /// tus: a part of a concatenation is not complete.
  case unfinishedPart
  case methodNotAllowed
  /// The origin has answered, but not to who asks now, as far as can be told.
  case answerIsAnothers
  /// All bytes are here, and the origin has not decided.
  case undecided(retryAfter: Int)
  /// Sent to the origin, which never answered.
  case outcomeUnknown
  /// Whether the origin takes uploads of this protocol itself is not known yet, and nothing was taken; seconds.
  case originSilent(retryAfter: Int)
  /// pawl's own disk failed; what was stored stays.
  case storage
}

/// A sentence written in the source, comparable.
package struct StaticSentence: Hashable, Sendable, ExpressibleByStringLiteral {
  package let text: String
  package init(stringLiteral text: String) { self.text = text }
}
