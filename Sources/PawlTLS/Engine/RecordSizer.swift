/// How large the next record of a connection is. A record is of use to its reader only when all of it has come: after
/// a silence the congestion window is small, so the first ones fit a packet each; later ones are as large as can be,
/// since each costs its sender the same.
struct RecordSizer: Hashable, Sendable {
  /// Content of a full record, in bytes (RFC 8446 5.1).
  static let full = 16_384
  /// Content of a record that fits, with what TLS, TCP and IPv6 add, into one packet of an Ethernet.
  static let small = 1_390
  /// So many bytes go out in small records.
  static let smallTotal = 32 << 10
  /// Silence after which they begin small again, in nanoseconds.
  static let silence: UInt64 = 1_000_000_000

  private var sentSmall = 0
  private var lastSent: UInt64?

  /// - Parameter now: monotonic, in nanoseconds. Once for all that is written in one turn is enough.
  mutating func begin(at now: UInt64) {
    if let lastSent, now >= lastSent, now - lastSent < Self.silence {} else { sentSmall = 0 }
    lastSent = now
  }

  /// Content of the next record when `count` bytes wait.
  mutating func next(_ count: Int) -> Int {
    guard sentSmall < Self.smallTotal else { return min(count, Self.full) }
    let size = min(count, Self.small)
    sentSmall += size
    return size
  }
}
