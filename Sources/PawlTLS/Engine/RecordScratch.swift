/// Memory that all TLS connections of one loop share and use one after another, so that an idle connection holds no buffer.
package final class RecordScratch {
  /// The bytes of records that are gathered for one system call.
  static let gatherSize = 128 << 10
  /// The buffer for content of files before it is encrypted, in bytes.
  static let contentSize = 64 << 10
  /// The largest record on the wire, in bytes (RFC 5246 §6.2.3).
  static let recordSize = 5 + RecordSizer.full + 2048

  let records: UnsafeMutableRawBufferPointer
  let content: UnsafeMutableRawBufferPointer
  /// The bytes of `records` in use; 0 whenever no engine is working.
  var filled = 0

  package init() {
    records = .allocate(byteCount: Self.gatherSize + Self.recordSize, alignment: 64)
    content = .allocate(byteCount: Self.contentSize, alignment: 64)
  }

  deinit {
    records.deallocate()
    content.deallocate()
  }

  var hasRoom: Bool { filled < Self.gatherSize }
}
