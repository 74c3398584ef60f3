/// The flow-control window for content that a client sends, of one stream or of the connection (RFC 9113 §5.2). While content is
/// consumed quickly, the window grows with the transfer rate, so that a long round trip does not slow the transfer.
struct HTTP2ReceiveWindow: Hashable, Sendable {
  /// The size in bytes: the upper limit for the sum of the bytes that the client may still send, the bytes on their way, and the
  /// held bytes.
  private(set) var size: Int
  /// The content that has come and was not released yet, in bytes.
  private(set) var held = 0
  /// Content that came since ``restart()``, in bytes.
  private(set) var arrived = 0

  init(size: Int) { self.size = size }

  mutating func arrive(_ count: Int) { (held, arrived) = (held + count, arrived + count) }

  /// Releases bytes that were consumed; at most those that are held.
  mutating func release(_ count: Int) { held -= min(count, held) }

  /// The credit to give back now, in bytes. `spent`: the received bytes, content or not, for which no credit was given back.
  /// Credit is given for at least an eighth of the window, so that WINDOW_UPDATE frames are rare. When the client may send less
  /// than an eighth of the window, credit is given for any number of bytes, so that the client does not have to wait.
  func credit(spent: Int) -> Int {
    let free = spent - held
    return free > 0 && (free >= size / 8 || size - spent < size / 8) ? free : 0
  }

  /// Notes that a round trip begins.
  mutating func restart() { arrived = 0 }

  /// Doubles the window at the end of a round trip in which at least two thirds of the window came. The window does not grow
  /// while half of it is held, since further content would be held, too.
  /// - Returns: whether the window grew.
  mutating func grow(upTo limit: Int) -> Bool {
    guard arrived >= size / 3 * 2, held < size / 2 else { return false }
    return widen(upTo: limit)
  }

  /// Doubles the window when half of it is held. For the window of a connection: streams whose content is consumed must not wait
  /// for streams whose content is held.
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

/// Decides when pawl sends a PING to measure the round trip: one PING at a time, and only while content comes. After each round
/// trip in which no window grew, the pause before the next PING is doubled, up to ``longest``.
struct HTTP2RoundTrip: Hashable, Sendable {
  static let shortest: Int64 = 10_000_000, longest: Int64 = 200_000_000

  private var sentAt: Int64?
  private var pause = shortest
  private var next: Int64?

  /// Notes that content comes; returns whether a PING is to be sent. Times are monotonic, in nanoseconds.
  mutating func begins(at now: Int64) -> Bool {
    guard sentAt == nil, now >= next ?? now else { return false }
    sentAt = now
    return true
  }

  /// Notes the acknowledgement of the PING; `false` when none was outstanding.
  mutating func ends(at now: Int64) -> Bool {
    guard sentAt != nil else { return false }
    sentAt = nil
    next = now
    return true
  }

  /// Sets the pause before the next PING.
  /// - Parameter grew: whether a window grew after this round trip.
  mutating func rest(grew: Bool) {
    pause = grew ? Self.shortest : min(2 * pause, Self.longest)
    if let next { self.next = next + (grew ? 0 : pause) }
  }
}
