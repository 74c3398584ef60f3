/// What a client is told that it may send (`Upload-Limit`, `Tus-Max-Size`).
package struct UploadLimits: Hashable, Sendable {
  /// Bytes of a whole upload; `nil`: no limit to tell.
  package var maxSize: UInt64?
  /// Bytes; below this an upload whose length is known is an ordinary request.
  package var minSize: UInt64
  /// Seconds left for this upload.
  package var maxAge: Int64?

  package init(maxSize: UInt64? = nil, minSize: UInt64 = 0, maxAge: Int64? = nil) {
    (self.maxSize, self.minSize, self.maxAge) = (maxSize, minSize, maxAge)
  }
}
