/// The reason why an upload request is refused. The dialects map it to a status and fields.
package enum UploadRefusal: Error, Hashable, Sendable {
  /// The request is malformed; the sentence says what is.
  case malformed(StaticSentence)
  /// tus: a version other than 1.0.0.
  case unsupportedTusVersion
  case notFound
  case gone
  /// The offset of the content is not the end of the upload.
  case wrongOffset(provided: UInt64)
  case wrongMediaType
  /// Declared lengths contradict each other.
  case inconsistentLength
  /// Content beyond the declared length.
  case tooLong
  /// Larger than the largest upload that is accepted.
  case tooLarge
  /// There is no room now; `retryAfter` is in seconds, as in all cases.
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
  /// The origin has responded, but the response belongs to other credentials, as far as pawl can see.
  case answerIsAnothers
  /// All bytes have arrived, and the origin has not responded yet.
  case undecided(retryAfter: Int)
  /// The upload was sent to the origin, and no response came.
  case outcomeUnknown
  /// It is not known yet whether the origin supports this protocol itself, and nothing was accepted.
  case originSilent(retryAfter: Int)
  /// The disk of pawl failed; what was stored is kept.
  case storage
}

/// A sentence from the source, which can be compared.
package struct StaticSentence: Hashable, Sendable, ExpressibleByStringLiteral {
  package let text: String
  package init(stringLiteral text: String) { self.text = text }
}
