import PawlLoop
import PawlWire

/// The end of the connection: by a drain or after idle time, by the session, or because the client has gone.
extension HTTP2Connection {
  /// Begins a drain: the session sends GOAWAY and ends when all its streams have ended.
  func drain() {
    switch phase {
    case .open:
      phase = .draining
      session.drain()
      expect(within: Self.drainTime)
      for stream in Array(streams.values) { stream.exchange?.endEarly() }
      pump()
    case .lingering: end(within: Self.drainLingerTime)
    case .draining, .ending, .closed: break
    }
  }

  /// Ends a connection that was idle for too long.
  func endInOrder() {
    session.end(.noError)
    beginEnding()
    pump()
  }

  private func beginEnding() {
    phase = .ending
    end(within: listener.settings.sendTimeout)
  }

  private func end(within duration: Duration) {
    endBy = connections.loop.now.advanced(by: duration)
    expect(within: duration)
  }

  /// Ends the connection because the session has ended it: after a flood, a protocol error, or GOAWAY.
  func ended(_ reason: HTTP2Session.EndReason) {
    guard isOpen else { return }
    if reason != .goAway {
      connections.counters.add(.http2Aborted)
      connections.admission.openings.note(.http2, of: facts.client, why: reason.rawValue, at: connections.loop.now)
    }
    beginEnding()
    dropUnanswered(BodyEnd(party: .client, reason: reason.rawValue))
    pump()
  }

  func abandonAll(_ end: BodyEnd) {
    guard isOpen else { return close() }
    for stream in Array(streams.values) { stream.endVisibly(end) }
    for id in session.unfinishedReady { cutReady(id, end) }
    session.end(.noError)
    beginEnding()
    pump()
    close()
  }

  /// Ends all exchanges and the connection, since the client's side broke.
  func clientBroke(_ reason: String) {
    guard phase != .closed else { return }
    dropAll(BodyEnd(party: .client, reason: reason))
    if reason == "send-timeout" { stream.reset() }
    close()
  }

  /// Drops the streams whose answers are not complete. Complete answers are still sent.
  private func dropUnanswered(_ end: BodyEnd) {
    let lost = streams.values.filter { stream in !unsentAnswers.contains { $0.stream === stream } }
    streams = [:]
    for stream in lost { stream.drop(end) }
    dropReady(end, unanswered: true)
  }

  private func dropAll(_ end: BodyEnd) {
    let lost = Array(streams.values) + unsentAnswers.map(\.stream)
    streams = [:]
    unsentAnswers = []
    for stream in lost { stream.drop(end) }
    dropReady(end, unanswered: false)
  }

  /// Sends FIN once all is written, then for a limited time reads and drops what still comes.
  func finish() {
    guard phase != .closed, phase != .lingering else { return }
    phase = .lingering
    stream.shutdownWrite()
    if !stream.isReading { stream.startReading() }
    end(within: connections.isDraining ? Self.drainLingerTime : Self.lingerTime)
  }

  func close() {
    guard phase != .closed else { return }
    phase = .closed
    timer.close()
    dropAll(BodyEnd(party: .client, reason: "closed"))
    stream.close()
    connections.connectionClosed(self)
  }
}
