/// Decides the size of the next record. A receiver can use a record only when all of it has come. After a silence the congestion
/// window is small, so the first records fit into one packet each. Later records have the full size, because every record costs
/// the sender the same, whatever its size.
struct RecordSizer: Hashable, Sendable {
  /// The content of a full record, in bytes (RFC 8446 §5.1).
  static let full = 16_384
  /// The content of a record that fits into one Ethernet packet with the headers of TLS, TCP and IPv6, in bytes.
  static let small = 1_390
  /// The bytes that are sent in small records after a silence.
  static let smallTotal = 32 << 10
  /// The silence after which records are small again, in nanoseconds.
  static let silence: UInt64 = 1_000_000_000

  private var sentSmall = 0
  private var lastSent: UInt64?

  /// Notes that writing begins. One call is enough for all that is written in one turn.
  /// - Parameter now: monotonic, in nanoseconds.
  mutating func begin(at now: UInt64) {
    if let lastSent, now >= lastSent, now - lastSent < Self.silence {} else { sentSmall = 0 }
    lastSent = now
  }

  /// The number of content bytes in the next record, when `count` bytes wait.
  mutating func next(_ count: Int) -> Int {
    guard sentSmall < Self.smallTotal else { return min(count, Self.full) }
    let size = min(count, Self.small)
    sentSmall += size
    return size
  }
}
