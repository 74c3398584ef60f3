/// What pawl allows a client over one HTTP/2 connection. Each bound has a name, so that the log can say which was met.
package struct HTTP2Settings: Hashable, Sendable {
  /// Of a request's fields, as in HTTP/1.1: beyond them the request is answered with 431, or 414 for its path. A field
  /// counts as its HTTP/1.1 line would: name, value and 4 bytes.
  package var head = HeadLimits()
  /// Of a request's trailers (`trailer`, `trailerFields`): beyond them the stream is reset.
  package var trailers = ChunkLimits()
  /// Streams at the same time (SETTINGS_MAX_CONCURRENT_STREAMS).
  package var maxStreams = 128
  /// Receive window of each stream at the start, in bytes.
  package var initialWindow = 1 << 20
  /// Receive window of the connection at the start, in bytes: more than a stream's, so that one upload that has to wait
  /// does not stop the others.
  package var initialConnectionWindow = 4 << 20
  /// What windows may grow to, in bytes: no connection is ever promised more than this.
  package var maxWindow = 16 << 20
  /// Whether the listener speaks TLS; `:scheme` `http` is refused then, as an absolute target is in HTTP/1.1.
  package var isSecure = false
  /// How long the client may take to acknowledge the settings, in nanoseconds (RFC 9113 §6.5.3).
  package var settingsTimeout: Int64 = 10_000_000_000
  package var floods = HTTP2FloodLimits()

  package init() {}

  /// Bytes of one header block on the wire, all its frames together; beyond them the connection ends.
  var maxBlock: Int { 4 * head.maxHead }
  /// Field lines of one header block after decompression; beyond them the connection ends.
  var maxBlockFields: Int { 4 * head.maxFields }
  /// The start window of a stream, never above the most a connection may be promised.
  var streamWindow: Int { min(initialWindow, maxWindow) }
  var connectionWindow: Int { min(max(initialWindow, initialConnectionWindow), maxWindow) }
}

/// How often a peer may send what costs pawl something and brings nothing: beyond it the connection ends with
/// ENHANCE_YOUR_CALM (RFC 9113 §10.5). Well above what any client needs.
package struct HTTP2FloodLimits: Hashable, Sendable {
  /// RST_STREAM from the client, and streams that pawl had to reset because of what the client sent (CVE-2023-44487,
  /// CVE-2025-8671).
  package var resets = HTTP2Rate(burst: 256, perSecond: 32)
  /// SETTINGS frames, acknowledgements aside.
  package var settings = HTTP2Rate(burst: 32, perSecond: 4)
  /// PING frames that answer none of pawl's.
  package var pings = HTTP2Rate(burst: 512, perSecond: 128)
  /// PRIORITY and PRIORITY_UPDATE frames.
  package var priorities = HTTP2Rate(burst: 512, perSecond: 128)
  /// WINDOW_UPDATE frames, beyond ``windowUpdatesPerFrame`` for each DATA frame that pawl sent.
  package var windowUpdates = HTTP2Rate(burst: 1024, perSecond: 128)
  package var windowUpdatesPerFrame = 4
  /// DATA frames without content that do not end a stream.
  package var emptyFrames = HTTP2Rate(burst: 128, perSecond: 32)
  /// Frames of no type that is known here, and GOAWAY.
  package var unknownFrames = HTTP2Rate(burst: 512, perSecond: 128)
  /// CONTINUATION frames of one header block (CVE-2024-27316).
  package var continuations = 16
  /// Frames that wait for a peer that does not read: acknowledgements, resets.
  package var queuedFrames = 4096

  package init() {}
}

/// So many at once, and so many again every second.
package struct HTTP2Rate: Hashable, Sendable {
  package var burst: Int
  package var perSecond: Int

  package init(burst: Int, perSecond: Int) { (self.burst, self.perSecond) = (burst, perSecond) }
}
