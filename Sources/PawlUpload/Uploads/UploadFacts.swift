/// What a dialect tells of an upload.
package struct UploadFacts: Hashable, Sendable {
  /// Bytes that are durable: what a client may be told.
  package var offset: UInt64
  /// Bytes of the whole, once declared.
  package var length: UInt64?
  package var phase: UploadPhase
  /// Whether the origin's answer has reached a client in full.
  package var isAnswerDelivered = false
  /// The status of the stored answer.
  package var originStatus: Int?
  /// When it is collected; wall clock, seconds since 1970.
  package var expires: Int64?
  /// tus `Upload-Metadata` and `Upload-Concat` as they were given.
  package var metadata: [UInt8]?
  package var concat: [UInt8]?
  package var isConcatFinal = false
  package var isConcatPartial = false

  package init(offset: UInt64, length: UInt64? = nil, phase: UploadPhase = .open) {
    (self.offset, self.length, self.phase) = (offset, length, phase)
  }
}
