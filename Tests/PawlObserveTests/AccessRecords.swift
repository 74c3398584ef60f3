import PawlBase
import Testing

@testable import PawlObserve

/// Records, and what the log makes of them.
enum AccessRecords {
  static func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

  /// What the log makes of some records, in lines.
  static func lines(_ format: AccessLogFormat, _ records: [AccessRecord]) throws -> [String] {
    let received = Locked<[UInt8]>([])
    let log = try AccessLog(
      destination: .closure { bytes in received.withLock { $0.append(contentsOf: bytes) } }, format: format)
    for record in records { log.write(record) }
    log.flush()
    let bytes = received.withLock { $0 }
    #expect(bytes.isEmpty || bytes.last == 0x0a)
    return bytes.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
  }

  static func record() -> AccessRecord {
    var record = AccessRecord(time: 1_795_255_200_123, remote: bytes("192.0.2.1"))
    record.method = bytes("GET")
    record.target = bytes("/a/b?c=d")
    (record.status, record.bytes) = (200, 1234)
    return record
  }

  /// The same line without its time, which depends on where the test runs.
  static func withoutTime(_ line: String) -> String {
    let parts = line.split(separator: "[", maxSplits: 1).flatMap { $0.split(separator: "]", maxSplits: 1) }
    return parts.count == 3 ? parts[0] + "[]" + parts[2] : line
  }
}
