import PawlHTTP
import PawlLoop
import PawlObserve
import PawlWire

/// The callbacks of the session, passed on to the stream concerned.
extension HTTP2Connection: HTTP2SessionDelegate {
  func session(_ session: HTTP2Session, began request: HTTP2Request, on id: HTTP2StreamID) {
    connections.counters.add(.http2Streams)
    let stream = HTTP2Stream(id, request, on: self)
    streams[id] = stream
    arrived.append(stream)
  }

  /// Whether content is kept even if the client has reset the stream. This is so for an append to an upload: all bytes that
  /// came count, as over HTTP/1.1.
  func session(_ session: HTTP2Session, keepsContentOf request: HTTP2Request) -> Bool {
    connections.dispatch.appends(request.head)
  }

  func session(
    _ session: HTTP2Session, refused refusal: RequestRefusal, _ head: RefusedHead, on id: HTTP2StreamID
  ) {
    connections.counters.add(.http2Streams)
    let stream = HTTP2Stream(id, refused: refusal, head, on: self)
    streams[id] = stream
    arrived.append(stream)
  }

  func session(_ session: HTTP2Session, content: UnsafeRawBufferPointer, of id: HTTP2StreamID) {
    guard let stream = streams[id] else { return session.consumed(content.count, of: id) }
    stream.receive(content)
  }

  func session(_ session: HTTP2Session, endedContentOf id: HTTP2StreamID, trailers: Fields) {
    streams[id]?.contentEnded(trailers)
  }

  func session(_ session: HTTP2Session, closed id: HTTP2StreamID, by code: UInt32?) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    stream.closed(by: code)
    guard streams.isEmpty else { return }
    idleSince = connections.loop.now
    expect(within: listener.settings.keepaliveTimeout)
  }

  func session(_ session: HTTP2Session, offerOf id: HTTP2StreamID, limit: Int) -> HTTP2Offer {
    streams[id]?.offer(limit) ?? .failed(.internalError)
  }

  func session(
    _ session: HTTP2Session, append count: Int, of id: HTTP2StreamID, to output: inout [UInt8]
  ) -> Bool {
    streams[id]?.append(count, to: &output) ?? false
  }

  func session(_ session: HTTP2Session, answered id: HTTP2StreamID) {
    guard let stream = streams[id] else { return answeredReady(id) }
    unsentAnswers.append((.max, stream))
    stream.answered()
  }
}
