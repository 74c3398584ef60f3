import PawlLoop
import PawlWire

/// How the connection ends: in order, by the session, or because its client is gone.
extension HTTP2Connection {
  /// The session ends, which it tells by itself, when all its streams have ended.
  func drain() {
    switch phase {
    case .open:
      phase = .draining
      session.drain()
      expect(within: Self.drainTime)
      pump()
    case .lingering: end(within: Self.drainLingerTime)
    case .draining, .ending, .closed: break
    }
  }

  /// Idle for too long.
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

  /// The session has said that the connection ends: a flood, or a breach of the protocol.
  func ended(_ reason: HTTP2Session.EndReason) {
    guard isOpen else { return }
    if reason != .goAway {
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

  /// The client's side broke: nobody is left to answer.
  func clientBroke(_ reason: String) {
    guard phase != .closed else { return }
    dropAll(BodyEnd(party: .client, reason: reason))
    if reason == "send-timeout" { stream.reset() }
    close()
  }

  /// Answers that are complete still go out.
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

  /// All has gone out: FIN, then what still comes is dropped for a bounded time.
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
