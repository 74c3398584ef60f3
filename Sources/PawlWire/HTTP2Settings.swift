/// What pawl allows a client over one HTTP/2 connection. Each bound has a name, so that the log can say which was met.
package struct HTTP2Settings: Hashable, Sendable {
  /// Of a request's fields, as in HTTP/1.1: beyond them the request is answered with 431.
  package var head = HeadLimits()
  /// Streams at the same time (SETTINGS_MAX_CONCURRENT_STREAMS).
  package var maxStreams = 128
  /// Receive window of each stream, and of the connection, at the start, in bytes.
  package var initialWindow = 1 << 20
  /// What windows may grow to, in bytes: no connection is ever promised more than this.
  package var maxWindow = 16 << 20

  package init() {}
}
