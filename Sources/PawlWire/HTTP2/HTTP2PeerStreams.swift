/// The state of each stream as far as the client determines it: begun, ended or reset. A frame for a stream that the client ended
/// or reset is a connection error (RFC 9113 §5.1); a frame for a stream that pawl reset is no error, because the client may have
/// sent it before the reset arrived. To bound memory, only the latest of the streams that are gone are kept.
struct HTTP2PeerStreams: Sendable {
  static let ended = 64, abandoned = 256

  private let most: Int
  /// The highest stream that the client has begun.
  private(set) var highest: HTTP2StreamID = 0
  /// The streams that the client has begun and not ended, in ascending order.
  private var open: [HTTP2StreamID] = []
  private var ended = HTTP2RecentStreams(HTTP2PeerStreams.ended)
  private var abandoned = HTTP2RecentStreams(HTTP2PeerStreams.abandoned)

  /// - Parameter maxStreams: the limit announced in SETTINGS. Some more streams are kept, because frames for ended streams may
  ///   still be on their way.
  init(maxStreams: Int) { most = 2 * maxStreams + Self.abandoned }

  /// Notes HEADERS of a request or of trailers.
  /// - Returns: the error code, if the frame breaks a rule.
  mutating func headers(_ stream: HTTP2StreamID, isEnd: Bool) -> HTTP2ErrorCode? {
    // nghttp2 refuses stream 0 and even streams, which only a server may open.
    guard stream > 0, stream & 1 == 1 else { return nil }
    guard stream > highest else { return content(stream, isEnd: isEnd, ofUnknown: .protocolError) }
    highest = stream
    guard !isEnd else {
      ended.note(stream)
      return nil
    }
    if open.count == most { open.removeFirst() }
    open.append(stream)
    return nil
  }

  mutating func data(_ stream: HTTP2StreamID, isEnd: Bool) -> HTTP2ErrorCode? {
    guard stream > 0, stream <= highest else { return nil }
    return content(stream, isEnd: isEnd, ofUnknown: .streamClosed)
  }

  private mutating func content(
    _ stream: HTTP2StreamID, isEnd: Bool, ofUnknown code: HTTP2ErrorCode
  ) -> HTTP2ErrorCode? {
    if let index = index(of: stream) {
      if isEnd { close(index) }
      return nil
    }
    if abandoned.contains(stream) { return nil }
    return ended.contains(stream) ? .streamClosed : code
  }

  /// Notes RST_STREAM from the client.
  mutating func reset(_ stream: HTTP2StreamID) {
    if let index = index(of: stream) { close(index) }
  }

  /// Notes that pawl has ended the stream: frames that the client still sends for it are no error.
  mutating func abandon(_ stream: HTTP2StreamID) {
    guard let index = index(of: stream) else { return }
    abandoned.note(open.remove(at: index))
  }

  private mutating func close(_ index: Int) { ended.note(open.remove(at: index)) }

  private func index(of stream: HTTP2StreamID) -> Int? {
    var (low, high) = (0, open.count)
    while low < high {
      let middle = (low + high) / 2
      if open[middle] < stream { low = middle + 1 } else { high = middle }
    }
    return low < open.count && open[low] == stream ? low : nil
  }
}

/// A ring of the latest stream identifiers.
struct HTTP2RecentStreams: Sendable {
  private let most: Int
  private var streams: [HTTP2StreamID] = []
  private var next = 0

  init(_ most: Int) { self.most = most }

  mutating func note(_ stream: HTTP2StreamID) {
    if streams.count < most { streams.append(stream) } else { streams[next] = stream }
    next = (next + 1) % most
  }

  func contains(_ stream: HTTP2StreamID) -> Bool { streams.contains(stream) }
}
