/// The limits of one HTTP/2 connection. Each limit has a name, so that the log can tell which one was exceeded.
package struct HTTP2Settings: Hashable, Sendable {
  /// The limits of a request's head, as in HTTP/1.1: beyond them the response is 431, or 414 for the path. A field counts as its
  /// HTTP/1.1 line would: name, value and 4 bytes.
  package var head = HeadLimits()
  /// The limits of the trailers of a request (`trailer`, `trailerFields`): beyond them the stream is reset.
  package var trailers = ChunkLimits()
  /// The number of concurrent streams (SETTINGS_MAX_CONCURRENT_STREAMS).
  package var maxStreams = 128
  /// The receive window of a new stream, in bytes.
  package var initialWindow = 1 << 20
  /// The receive window of a new connection, in bytes: larger than a stream's, so that one upload that has to wait does not stop
  /// the others.
  package var initialConnectionWindow = 4 << 20
  /// The largest receive window of a connection, in bytes.
  package var maxWindow = 16 << 20
  /// Whether the listener speaks TLS. `:scheme` `http` is then refused, as an absolute target of that scheme is in HTTP/1.1.
  package var isSecure = false
  /// The time that the client has to acknowledge SETTINGS, in nanoseconds (RFC 9113 §6.5.3).
  package var settingsTimeout: Int64 = 10_000_000_000
  package var floods = HTTP2FloodLimits()

  package init() {}

  /// The most bytes of one header block on the wire, in all its frames; beyond them the connection ends.
  var maxBlock: Int { 4 * head.maxHead }
  /// The most field lines of one header block after decompression; beyond them the connection ends.
  var maxBlockFields: Int { 4 * head.maxFields }
  /// The receive window of a new stream, at most `maxWindow`.
  var streamWindow: Int { min(initialWindow, maxWindow) }
  var connectionWindow: Int { min(max(initialWindow, initialConnectionWindow), maxWindow) }
}

/// The allowed rates of frames that cost pawl work without a use. When a client exceeds one, the connection ends with
/// ENHANCE_YOUR_CALM (RFC 9113 §10.5). The rates are far above the needs of any client.
package struct HTTP2FloodLimits: Hashable, Sendable {
  /// RST_STREAM frames from the client, and streams that pawl had to reset for a fault of the client (CVE-2023-44487,
  /// CVE-2025-8671).
  package var resets = HTTP2Rate(burst: 256, perSecond: 32)
  /// SETTINGS frames, without acknowledgements.
  package var settings = HTTP2Rate(burst: 32, perSecond: 4)
  /// PING frames that do not acknowledge a PING of pawl.
  package var pings = HTTP2Rate(burst: 512, perSecond: 128)
  /// PRIORITY and PRIORITY_UPDATE frames.
  package var priorities = HTTP2Rate(burst: 512, perSecond: 128)
  /// WINDOW_UPDATE frames, beyond ``windowUpdatesPerFrame`` for each DATA frame that pawl sent.
  package var windowUpdates = HTTP2Rate(burst: 1024, perSecond: 128)
  package var windowUpdatesPerFrame = 4
  /// DATA frames without content that do not end a stream.
  package var emptyFrames = HTTP2Rate(burst: 128, perSecond: 32)
  /// Frames of unknown types, and GOAWAY.
  package var unknownFrames = HTTP2Rate(burst: 512, perSecond: 128)
  /// CONTINUATION frames of one header block (CVE-2024-27316).
  package var continuations = 16
  /// Frames that wait for a client that does not read: acknowledgements, resets.
  package var queuedFrames = 4096

  package init() {}
}

/// A rate: ``burst`` events at once, and ``perSecond`` further events each second.
package struct HTTP2Rate: Hashable, Sendable {
  package var burst: Int
  package var perSecond: Int

  package init(burst: Int, perSecond: Int) { (self.burst, self.perSecond) = (burst, perSecond) }
}
