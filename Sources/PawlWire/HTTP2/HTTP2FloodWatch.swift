/// The reason and the error code with which a connection ends.
struct HTTP2Breach: Hashable, Sendable {
  var reason: HTTP2Session.EndReason
  var code: HTTP2ErrorCode

  static func flood(_ reason: HTTP2Session.EndReason) -> HTTP2Breach {
    HTTP2Breach(reason: reason, code: .enhanceYourCalm)
  }
  static func breach(_ code: HTTP2ErrorCode) -> HTTP2Breach { HTTP2Breach(reason: .protocolError, code: code) }
}

/// Reads the frame headers of a client before nghttp2 does. It counts frames that may be part of a flood, and finds frames for
/// streams that cannot take them. It sees every frame, also those for streams that are gone. Pure: the verdict depends only on
/// the bytes and the given times.
struct HTTP2FloodWatch: Sendable {
  /// Frame types of RFC 9113 §6 and RFC 9218 §7.
  private enum Kind {
    static let data: UInt8 = 0, headers: UInt8 = 1, priority: UInt8 = 2, reset: UInt8 = 3, settings: UInt8 = 4
    static let ping: UInt8 = 6, windowUpdate: UInt8 = 8, continuation: UInt8 = 9, priorityUpdate: UInt8 = 16
  }
  private enum Flag {
    /// END_STREAM, and ACK of SETTINGS and PING.
    static let endStream: UInt8 = 1, padded: UInt8 = 8
  }

  private let limits: HTTP2FloodLimits
  private let maxBlock: Int
  private var resets: HTTP2RateLimit, settings: HTTP2RateLimit, pings: HTTP2RateLimit, priorities: HTTP2RateLimit
  private var windowUpdates: HTTP2RateLimit, emptyFrames: HTTP2RateLimit, unknownFrames: HTTP2RateLimit
  /// The PINGs of pawl that are not acknowledged yet.
  private var pingsOut = 0
  /// The CONTINUATION frames and bytes of the header block that is arriving.
  private var continuations = 0, blockBytes = 0
  private var streams: HTTP2PeerStreams
  /// The content bytes that came, or that the arriving frame announces, for streams that began within the same ``take(_:at:)``.
  private var contents: [HTTP2StreamID: UInt64] = [:]

  /// The number of bytes to skip before the next frame header; at first the length of the preface.
  private var skip = HTTP2Session.preface.utf8CodeUnitCount
  /// The frame header that is arriving, and the needed part of its payload: the pad length of DATA, the dependency of PRIORITY.
  private var header: (UInt64, UInt64) = (0, 0)
  private var headerCount = 0

  init(_ settings: HTTP2Settings) {
    limits = settings.floods
    maxBlock = settings.maxBlock
    streams = HTTP2PeerStreams(maxStreams: settings.maxStreams)
    (resets, self.settings) = (HTTP2RateLimit(limits.resets), HTTP2RateLimit(limits.settings))
    (pings, priorities) = (HTTP2RateLimit(limits.pings), HTTP2RateLimit(limits.priorities))
    (windowUpdates, emptyFrames) = (HTTP2RateLimit(limits.windowUpdates), HTTP2RateLimit(limits.emptyFrames))
    unknownFrames = HTTP2RateLimit(limits.unknownFrames)
  }

  /// Notes that a PING was sent, whose acknowledgement is expected.
  mutating func sentPing() { pingsOut += 1 }

  /// Notes that a DATA frame was sent, to which the client may respond with WINDOW_UPDATE.
  mutating func sentData() { windowUpdates.earn(limits.windowUpdatesPerFrame) }

  /// Notes that pawl has ended a stream for which the client may still send frames.
  mutating func abandon(_ stream: HTTP2StreamID) { streams.abandon(stream) }

  /// The content bytes for a stream that began within the last ``take(_:at:)``.
  func content(of stream: HTTP2StreamID) -> UInt64 { contents[stream] ?? 0 }

  /// Notes that pawl had to reset a stream because of a fault of the client.
  mutating func resetByFault(at now: Int64) -> HTTP2Breach? { resets.take(at: now) ? nil : .flood(.resetFlood) }

  /// Reads the next bytes of the connection. `now`: monotonic, in nanoseconds.
  /// - Returns: why the connection has to end; `nil` when it goes on.
  mutating func take(_ bytes: Span<UInt8>, at now: Int64) -> HTTP2Breach? {
    if !contents.isEmpty { contents = [:] }
    let newest = streams.highest
    var at = 0
    while at < bytes.count {
      if skip > 0 {
        let step = min(skip, bytes.count - at)
        (skip, at) = (skip - step, at + step)
        continue
      }
      take(byte: bytes[at])
      at += 1
      guard headerCount >= 9, headerCount >= 9 + payloadNeeded else { continue }
      skip = length - (headerCount - 9)
      if let breach = frame(at: now) { return breach }
      if kind == Kind.data, stream > newest { contents[stream, default: 0] += UInt64(contentCount) }
      (headerCount, header) = (0, (0, 0))
    }
    return nil
  }

  private mutating func take(byte: UInt8) {
    if headerCount < 8 { header.0 = header.0 << 8 | UInt64(byte) } else { header.1 = header.1 << 8 | UInt64(byte) }
    headerCount += 1
  }

  private var length: Int { Int(truncatingIfNeeded: header.0 >> 40) }
  private var kind: UInt8 { UInt8(truncatingIfNeeded: header.0 >> 32) }
  private var flags: UInt8 { UInt8(truncatingIfNeeded: header.0 >> 24) }
  /// The number of payload bytes that are needed beside the header.
  private var payloadNeeded: Int {
    switch kind {
    case Kind.data: flags & Flag.padded != 0 && length > 0 ? 1 : 0
    case Kind.priority: length == 5 ? 4 : 0
    default: 0
    }
  }
  private var stream: HTTP2StreamID {
    let last = header.1 >> UInt64(8 * (headerCount - 9)) & 0xff
    return HTTP2StreamID(truncatingIfNeeded: (header.0 & 0x7f_ffff) << 8 | last)
  }
  /// The content bytes of a DATA frame, without padding.
  private var contentCount: Int { headerCount == 10 ? max(0, length - 1 - Int(header.1 & 0xff)) : length }

  private mutating func frame(at now: Int64) -> HTTP2Breach? {
    let hasFirstFlag = flags & Flag.endStream != 0
    switch kind {
    case Kind.data:
      if let code = streams.data(stream, isEnd: hasFirstFlag) { return .breach(code) }
      return contentCount > 0 || hasFirstFlag || emptyFrames.take(at: now) ? nil : .flood(.emptyFrameFlood)
    case Kind.headers:
      if let code = streams.headers(stream, isEnd: hasFirstFlag) { return .breach(code) }
      (continuations, blockBytes) = (0, length)
      return blockBytes <= maxBlock ? nil : .flood(.continuationFlood)
    case Kind.continuation:
      (continuations, blockBytes) = (continuations + 1, blockBytes + length)
      return continuations <= limits.continuations && blockBytes <= maxBlock ? nil : .flood(.continuationFlood)
    case Kind.reset:
      streams.reset(stream)
      return resets.take(at: now) ? nil : .flood(.resetFlood)
    case Kind.settings: return hasFirstFlag || settings.take(at: now) ? nil : .flood(.settingsFlood)
    case Kind.ping: return ping(isAcknowledgement: hasFirstFlag, at: now)
    case Kind.priority: return priority(at: now)
    case Kind.priorityUpdate: return priorities.take(at: now) ? nil : .flood(.priorityFlood)
    case Kind.windowUpdate: return windowUpdates.take(at: now) ? nil : .flood(.windowUpdateFlood)
    default: return unknownFrames.take(at: now) ? nil : .flood(.unknownFrameFlood)
    }
  }

  private mutating func ping(isAcknowledgement: Bool, at now: Int64) -> HTTP2Breach? {
    if isAcknowledgement, pingsOut > 0 {
      pingsOut -= 1
      return nil
    }
    return pings.take(at: now) ? nil : .flood(.pingFlood)
  }

  /// Checks a PRIORITY frame. The frame has no effect, but it must not be for stream 0, nor make a stream depend on itself
  /// (RFC 9113 §6.3).
  private mutating func priority(at now: Int64) -> HTTP2Breach? {
    guard stream != 0 else { return .breach(.protocolError) }
    let dependency = HTTP2StreamID(truncatingIfNeeded: header.1 & 0x7fff_ffff)
    guard headerCount != 13 || dependency != stream else { return .breach(.protocolError) }
    return priorities.take(at: now) ? nil : .flood(.priorityFlood)
  }
}
