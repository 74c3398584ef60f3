/// The reason why an upload request is refused. The dialects map it to a status and fields.
package enum UploadRefusal: Error, Hashable, Sendable {
  /// The request is malformed; the sentence says what is wrong.
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
  /// The upload is larger than the largest one that is accepted.
  case tooLarge
  /// There is no space now. `retryAfter` is in seconds, here and in the other cases.
  case noSpace(retryAfter: Int)
  case tooManyUploads(retryAfter: Int)
  /// Content for an upload that has all of its bytes.
  case alreadyComplete
  case digestMismatch
  case unknownDigest
  /// tus: content came for an upload that is the concatenation of other uploads.
  case modifiesFinal
  /// tus: a part of a concatenation is not complete.
  case unfinishedPart
  case methodNotAllowed
  /// The origin has responded, but its response was not made for the credentials of this request.
  case answerIsAnothers
  /// All bytes have arrived, and the origin has not responded yet.
  case undecided(retryAfter: Int)
  /// The upload was sent to the origin, and no response came.
  case outcomeUnknown
  /// pawl does not know yet whether the origin supports this protocol itself, so no content was accepted.
  case originSilent(retryAfter: Int)
  /// The disk of pawl failed; what was stored is kept.
  case storage
  /// pawl ends or is replaced by a new process; what was stored is kept.
  case ending
}

/// A sentence from pawl's own source code, as a value that can be compared.
package struct StaticSentence: Hashable, Sendable, ExpressibleByStringLiteral {
  package let text: String
  package init(stringLiteral text: String) { self.text = text }
}
