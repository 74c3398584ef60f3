import PawlObserve

extension LoopConnections {
  /// Writes the access log line of a hit on the hot path, in every version of HTTP; nothing with `access-log = off`.
  /// - Parameters:
  ///   - sent: bytes of the body.
  ///   - more: fills in what is read from the bytes of the request. Changes the record in place, since a copy costs about a
  ///     hundred instructions.
  @inline(__always)
  func logHit(
    _ request: @autoclosure () -> HotRequest, _ facts: ClientFacts, _ route: RouteSettings, status: Int, sent: UInt64,
    _ durationMicros: UInt64, _ more: (inout AccessRecord) -> Void
  ) {
    guard let log = services.accessLog else { return }
    var record = AccessRecord(time: clock.wallMilliseconds(), remote: facts.text[...])
    record.note(request(), status: status, bytes: sent, route, facts.tls)
    record.durationMicros = durationMicros
    more(&record)
    log.write(record)
  }

  /// Counts a hit on the hot path of HTTP/2, complete or not.
  /// - Parameter end: what ended the answer early; `nil`: it is complete.
  func countHit(sent: UInt64, _ durationMicros: UInt64, _ end: BodyEnd?) {
    guard let end else { return counters.addHit(bytes: sent, microseconds: durationMicros) }
    counters.addRequest(.success, .hit)
    counters.add(.toClientFromCache, sent)
    counters.add(end.counter)
    counters.observe(.requestDuration, microseconds: durationMicros)
  }
}
