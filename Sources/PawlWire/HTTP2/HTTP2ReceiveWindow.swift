/// How much a peer may send before it has to wait: of one stream, or of the connection (RFC 9113 §5.2). Grows with the
/// rate, so that a long way costs nothing, and only while content is taken as it comes.
struct HTTP2ReceiveWindow: Hashable, Sendable {
  /// In bytes: what is promised, what has come and what is held together never exceed it.
  private(set) var size: Int
  /// Content that came and is not done with, in bytes.
  private(set) var held = 0
  /// Content that came since ``restart()``, in bytes.
  private(set) var arrived = 0

  init(size: Int) { self.size = size }

  mutating func arrive(_ count: Int) { (held, arrived) = (held + count, arrived + count) }

  /// So many bytes are done with; never more than are held.
  mutating func release(_ count: Int) { held -= min(count, held) }

  /// What to give back now: `spent` bytes of the window have come and were not given back, whether or not they were
  /// content. Given in eighths of the window, so that a WINDOW_UPDATE is rare and yet nobody waits for it; where what is
  /// held leaves less than that, all there is.
  func credit(spent: Int) -> Int {
    let free = spent - held
    return free > 0 && (free >= size / 8 || size - spent < size / 8) ? free : 0
  }

  /// A round trip begins.
  mutating func restart() { arrived = 0 }

  /// A round trip is over: twice the window when at least two thirds of it came meanwhile. Not for one who holds half
  /// of it: more promised would only be more to hold.
  /// - Returns: whether it grew.
  mutating func grow(upTo limit: Int) -> Bool {
    guard arrived >= size / 3 * 2, held < size / 2 else { return false }
    return widen(upTo: limit)
  }

  /// Twice the window where half of it is held: for a connection, that those who take their content are not kept waiting
  /// by those who do not.
  mutating func makeRoom(upTo limit: Int) -> Bool {
    guard held >= size / 2 else { return false }
    return widen(upTo: limit)
  }

  private mutating func widen(upTo limit: Int) -> Bool {
    guard size < limit else { return false }
    size = min(2 * size, limit)
    return true
  }
}

/// When to send a PING of one's own to measure the round trip: one at a time, only while content comes, the rarer the
/// longer nothing has grown.
struct HTTP2RoundTrip: Hashable, Sendable {
  static let shortest: Int64 = 10_000_000, longest: Int64 = 200_000_000

  private var sentAt: Int64?
  private var pause = shortest
  private var next: Int64?

  /// Content comes; whether a PING is to be sent. Times are monotonic, in nanoseconds.
  mutating func begins(at now: Int64) -> Bool {
    guard sentAt == nil, now >= next ?? now else { return false }
    sentAt = now
    return true
  }

  /// The PING's acknowledgement came. `false` when none was out.
  mutating func ends(at now: Int64) -> Bool {
    guard sentAt != nil else { return false }
    sentAt = nil
    next = now
    return true
  }

  /// What the round trip that just ended was good for.
  mutating func rest(grew: Bool) {
    pause = grew ? Self.shortest : min(2 * pause, Self.longest)
    if let next { self.next = next + (grew ? 0 : pause) }
  }
}
