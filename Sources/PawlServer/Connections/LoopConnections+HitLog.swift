import PawlObserve

extension LoopConnections {
  /// Writes the line of a hit that made no request into the access log, where there is one; whatever version of HTTP it went
  /// out over.
  /// - Parameters:
  ///   - sent: bytes of the body.
  ///   - more: puts in what stands in the bytes of the request. In place: a copy of all that costs a hundred instructions.
  @inline(__always)
  func logHit(
    _ request: @autoclosure () -> HotRequest, _ facts: ClientFacts, _ route: RouteSettings, status: Int, sent: UInt64,
    _ more: (inout AccessRecord) -> Void
  ) {
    guard let log = accessLog else { return }
    var record = AccessRecord(time: clock.wallMilliseconds(), remote: facts.text[...])
    record.note(request(), status: status, bytes: sent, route, facts.tls)
    more(&record)
    log.write(record)
  }
}
