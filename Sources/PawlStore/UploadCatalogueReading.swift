package import PawlUpload

/// An upload as the command line shows it.
package struct UploadSummary: Hashable, Sendable {
  package var id: UploadID
  package var phase: UploadPhase
  /// Recorded bytes.
  package var offset: UInt64
  package var length: UInt64?
  package var method: [UInt8]
  package var scheme: [UInt8]
  package var authority: [UInt8]
  package var target: [UInt8]
  package var clientAddress: [UInt8]
  package var isTus: Bool
  /// Wall clock, seconds since 1970, as are all times here.
  package var createdAt: Int64
  package var lastByteAt: Int64
  package var expires: Int64?
  package var attempts: Int
  package var lastError: String?
  package var nextAttempt: Int64?
  package var originStatus: Int?
  package var isAnswerDelivered: Bool
}

/// Reads a spool's catalogue beside a running server. Blocking.
package enum UploadCatalogueReading {
  /// All uploads in the order they were created, tombstones left out.
  /// - Parameter path: the spool's directory.
  package static func list(_ path: String) throws(StoreError) -> [UploadSummary] { [] }
  /// One upload, a tombstone too.
  package static func show(_ id: UploadID, _ path: String) throws(StoreError) -> UploadSummary? { nil }
}
