/// The facts of an upload that clients are told.
package struct UploadFacts: Hashable, Sendable {
  /// The number of durable bytes, which clients may be told.
  package var offset: UInt64
  /// The length of the complete upload in bytes; `nil`: not declared yet.
  package var length: UInt64?
  package var phase: UploadPhase
  /// Whether the origin's response was delivered to a client completely.
  package var isAnswerDelivered = false
  /// The status of the stored response.
  package var originStatus: Int?
  /// When the upload expires; wall clock, seconds since 1970.
  package var expires: Int64?
  /// `Upload-Metadata` and `Upload-Concat` of tus as they were sent.
  package var metadata: [UInt8]?
  package var concat: [UInt8]?
  package var isConcatFinal = false
  package var isConcatPartial = false

  package init(offset: UInt64, length: UInt64? = nil, phase: UploadPhase = .open) {
    (self.offset, self.length, self.phase) = (offset, length, phase)
  }
}
