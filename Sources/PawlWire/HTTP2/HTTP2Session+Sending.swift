import CNGHTTP2
import PawlBase
package import PawlHTTP

/// Sends responses: heads, content and trailers.
extension HTTP2Session {
  /// Sends an interim response, without hop-by-hop fields and with names in lower case. Does nothing for a stream that is gone,
  /// and for 101, which HTTP/2 does not have (RFC 9113 §8.6).
  package func sendInterim(_ head: ResponseHead, on stream: HTTP2StreamID) {
    guard head.status != 101, let slot = openSlot(stream), !streams[slot].hasHead else { return }
    withLines(head.fields, status: head.status, length: nil) { lines, count in
      _ = nghttp2_submit_headers(raw, 0, stream, nil, lines, count, nil)
    }
  }

  /// Sends the final head. `length`: for `content-length`. `hasContent`: whether the delegate is asked for content.
  package func sendHead(_ head: ResponseHead, length: UInt64?, hasContent: Bool, on stream: HTTP2StreamID) {
    guard let slot = openSlot(stream), !streams[slot].hasHead else { return }
    streams[slot].hasHead = true
    withLines(head.fields, status: head.status, length: length) { lines, count in
      guard hasContent else {
        _ = nghttp2_submit_response(raw, stream, lines, count, nil)
        return
      }
      var content = HTTP2Callbacks.content
      _ = nghttp2_submit_response(raw, stream, lines, count, &content)
    }
  }

  /// Continues a stream: the delegate has content again after ``HTTP2Offer/later``.
  package func resume(_ stream: HTTP2StreamID) {
    guard openSlot(stream) != nil else { return }
    nghttp2_session_resume_data(raw, stream)
  }

  /// Sends RST_STREAM, before content that waits. The only further event of the stream is `closed`.
  package func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
    guard let slot = slot(of: stream), streams[slot].resetOwn(code) else { return }
    nghttp2_submit_rst_stream(raw, 0, stream, code.rawValue)
  }

  /// Whether the content of this stream waits for a flow-control window of the client, and not for other streams.
  package func isHeldBack(_ stream: HTTP2StreamID) -> Bool {
    nghttp2_session_get_remote_window_size(raw) <= 0 || nghttp2_session_get_stream_remote_window_size(raw, stream) <= 0
  }

  private func openSlot(_ stream: HTTP2StreamID) -> Int? {
    guard ending == nil, let slot = slot(of: stream), !streams[slot].isClosed, !streams[slot].isResetByOwn else {
      return nil
    }
    return slot
  }

  // MARK: Content

  /// Returns the next DATA frame for nghttp2; `nil`: none now.
  func offer(of stream: HTTP2StreamID, limit: Int) -> (count: Int, isLast: Bool, hasTrailers: Bool)? {
    switch listener?.session(self, offerOf: stream, limit: limit) ?? .failed(.internalError) {
    case .bytes(let count, let isLast):
      guard count > 0, count <= limit else {
        reset(stream, .internalError)
        return nil
      }
      return (count, isLast, false)
    case .later: return nil
    case .end(let trailers):
      let hasTrailers = trailers.count > 0
      if hasTrailers { withLines(trailers) { _ = nghttp2_submit_trailer(raw, stream, $0, $1) } }
      return (0, true, hasTrailers)
    case .failed(let code):
      reset(stream, code)
      return nil
    }
  }

  /// Appends the header of the frame and the bytes of the delegate directly to the output.
  func appendContent(_ header: UnsafeBufferPointer<UInt8>, _ count: Int, of stream: HTTP2StreamID) -> Bool {
    let start = output.count
    output.append(contentsOf: header)
    if listener?.session(self, append: count, of: stream, to: &output) == true,
      output.count == start + header.count + count
    {
      return true
    }
    output.removeLast(max(0, output.count - start))
    // The stream is reset for a fault of pawl, which must not count against the client.
    if let slot = slot(of: stream) { _ = streams[slot].resetOwn(.internalError) }
    return false
  }

  // MARK: Sent frames

  /// Notes that a frame is in the output, or about to be.
  func noteSent(_ kind: HTTP2Callbacks.Frame, _ stream: HTTP2StreamID, endsStream: Bool, code: UInt32) {
    switch kind {
    case .data, .headers:
      if kind == .data { watch.sentData() }
      guard endsStream, let slot = slot(of: stream) else { return }
      // The end of a ready response is reported only if the delegate was told of its stream.
      if streams[slot].ready == nil || streams[slot].isTold { events.append(.answered(slot)) }
    case .reset: noteResetSent(stream, code)
    case .goAway: if code != 0 { finish(.protocolError, nil) }
    }
  }

  private func noteResetSent(_ stream: HTTP2StreamID, _ code: UInt32) {
    watch.abandon(stream)
    if let slot = slot(of: stream) {
      streams[slot].noteReset()
      if streams[slot].isResetByOwn { return }
    }
    if let breach = watch.resetByFault(at: now) { finish(breach.reason, breach.code) }
  }

  /// Notes a head that nghttp2 could not send, because it is too large for any frame.
  func noteUnsent(_ stream: HTTP2StreamID) { reset(stream, .internalError) }

  // MARK: Field lines

  /// Calls `body` with field lines that are valid only during the call. nghttp2 copies them, with names in lower case.
  private func withLines(
    _ fields: Fields, status: Int? = nil, length: UInt64? = nil,
    _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void
  ) {
    digits.removeAll(keepingCapacity: true)
    if let status { digits.append(decimal: UInt64(max(0, status))) }
    let statusEnd = digits.count
    if let length { digits.append(decimal: length) }
    lines.removeAll(keepingCapacity: true)
    digits.withUnsafeBufferPointer { digits in
      fields.storage.withUnsafeBufferPointer { storage in
        if status != nil { lines.append(nghttp2_nv(":status", digits[..<statusEnd])) }
        for line in fields.lines where Self.isSent(line.name) {
          lines.append(nghttp2_nv(storage[line.nameRange], storage[line.valueRange]))
        }
        if length != nil { lines.append(nghttp2_nv("content-length", digits[statusEnd...])) }
        lines.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
      }
    }
  }

  /// Whether a field may be sent: fields about an HTTP/1.1 connection must not (RFC 9113 §8.2.2).
  static func isSent(_ name: FieldName) -> Bool {
    switch name {
    case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .te, .http2Settings, .contentLength:
      false
    default: true
    }
  }
}
