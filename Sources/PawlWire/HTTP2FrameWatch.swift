/// Reads the frame headers of what a client sends, before anything else looks at it, and counts what could be a flood.
/// Sees every frame, also those of streams that are gone. Pure: octets and time in, a verdict out.
struct HTTP2FrameWatch: Sendable {
  /// Frame types of RFC 9113 §6 and RFC 9218 §7.
  private enum Kind {
    static let data: UInt8 = 0, headers: UInt8 = 1, priority: UInt8 = 2, reset: UInt8 = 3, settings: UInt8 = 4
    static let ping: UInt8 = 6, windowUpdate: UInt8 = 8, continuation: UInt8 = 9, priorityUpdate: UInt8 = 16
  }
  private enum Flag {
    /// Also ACK of SETTINGS and PING.
    static let endStream: UInt8 = 1, padded: UInt8 = 8
  }

  private let limits: HTTP2FloodLimits
  private let maxBlock: Int
  private var resets: HTTP2RateLimit, settings: HTTP2RateLimit, pings: HTTP2RateLimit, priorities: HTTP2RateLimit
  private var windowUpdates: HTTP2RateLimit, emptyFrames: HTTP2RateLimit, unknownFrames: HTTP2RateLimit
  /// Own PINGs whose acknowledgement has not come.
  private var pingsOut = 0
  /// CONTINUATION frames and octets of the header block that is coming in.
  private var continuations = 0, blockOctets = 0

  /// Octets before the next frame header; the preface at first.
  private var skip = HTTP2Session.preface.utf8CodeUnitCount
  /// The frame header that is coming in, and the pad length of a padded DATA frame.
  private var header: (UInt64, UInt16) = (0, 0)
  private var headerCount = 0

  init(_ settings: HTTP2Settings) {
    limits = settings.floods
    maxBlock = settings.maxBlock
    (resets, self.settings) = (HTTP2RateLimit(limits.resets), HTTP2RateLimit(limits.settings))
    (pings, priorities) = (HTTP2RateLimit(limits.pings), HTTP2RateLimit(limits.priorities))
    (windowUpdates, emptyFrames) = (HTTP2RateLimit(limits.windowUpdates), HTTP2RateLimit(limits.emptyFrames))
    unknownFrames = HTTP2RateLimit(limits.unknownFrames)
  }

  /// A PING has been sent: its acknowledgement is expected.
  mutating func sentPing() { pingsOut += 1 }

  /// A DATA frame has been sent: the peer may well answer it with WINDOW_UPDATE.
  mutating func sentData() { windowUpdates.earn(limits.windowUpdatesPerFrame) }

  /// A stream had to be reset because of what the peer sent.
  mutating func resetByFault(at now: Int64) -> HTTP2Session.EndReason? { resets.take(at: now) ? nil : .resetFlood }

  /// Looks at the next octets of the connection. `now`: monotonic, in nanoseconds.
  /// - Returns: the limit that was passed.
  mutating func take(_ octets: Span<UInt8>, at now: Int64) -> HTTP2Session.EndReason? {
    var at = 0
    while at < octets.count {
      if skip > 0 {
        let step = min(skip, octets.count - at)
        (skip, at) = (skip - step, at + step)
        continue
      }
      take(octet: octets[at])
      at += 1
      guard headerCount >= 9 else { continue }
      if isPaddedData, headerCount == 9, length > 0 { continue }
      skip = length - (headerCount - 9)
      if let reason = frame(at: now) { return reason }
      (headerCount, header) = (0, (0, 0))
    }
    return nil
  }

  private mutating func take(octet: UInt8) {
    if headerCount < 8 { header.0 = header.0 << 8 | UInt64(octet) } else { header.1 = header.1 << 8 | UInt16(octet) }
    headerCount += 1
  }

  private var length: Int { Int(truncatingIfNeeded: header.0 >> 40) }
  private var kind: UInt8 { UInt8(truncatingIfNeeded: header.0 >> 32) }
  private var flags: UInt8 { UInt8(truncatingIfNeeded: header.0 >> 24) }
  private var isPaddedData: Bool { kind == Kind.data && flags & Flag.padded != 0 }
  /// Octets of content in a DATA frame.
  private var contentCount: Int {
    headerCount == 10 ? max(0, length - 1 - Int(header.1 & 0xff)) : length
  }

  private mutating func frame(at now: Int64) -> HTTP2Session.EndReason? {
    let hasFirstFlag = flags & Flag.endStream != 0
    switch kind {
    case Kind.data:
      return contentCount > 0 || hasFirstFlag || emptyFrames.take(at: now) ? nil : .emptyFrameFlood
    case Kind.headers:
      (continuations, blockOctets) = (0, length)
      return blockOctets <= maxBlock ? nil : .continuationFlood
    case Kind.continuation:
      (continuations, blockOctets) = (continuations + 1, blockOctets + length)
      return continuations <= limits.continuations && blockOctets <= maxBlock ? nil : .continuationFlood
    case Kind.reset: return resets.take(at: now) ? nil : .resetFlood
    case Kind.settings: return hasFirstFlag || settings.take(at: now) ? nil : .settingsFlood
    case Kind.ping: return ping(isAcknowledgement: hasFirstFlag, at: now)
    case Kind.priority, Kind.priorityUpdate: return priorities.take(at: now) ? nil : .priorityFlood
    case Kind.windowUpdate: return windowUpdates.take(at: now) ? nil : .windowUpdateFlood
    default: return unknownFrames.take(at: now) ? nil : .unknownFrameFlood
    }
  }

  private mutating func ping(isAcknowledgement: Bool, at now: Int64) -> HTTP2Session.EndReason? {
    if isAcknowledgement, pingsOut > 0 {
      pingsOut -= 1
      return nil
    }
    return pings.take(at: now) ? nil : .pingFlood
  }
}
