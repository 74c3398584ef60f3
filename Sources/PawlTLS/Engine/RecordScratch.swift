/// Memory that all protected connections of one loop share, one at a time: none of them holds a buffer while it is
/// idle.
package final class RecordScratch {
  /// Records are gathered up to here for one system call, in bytes.
  static let gatherSize = 128 << 10
  /// Content of files on its way into records.
  static let contentSize = 64 << 10
  /// The largest record there is, on the wire (RFC 5246 6.2.3).
  static let recordSize = 5 + RecordSizer.full + 2048

  let records: UnsafeMutableRawBufferPointer
  let content: UnsafeMutableRawBufferPointer
  /// Bytes of `records` in use; 0 whenever no engine is at work.
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
