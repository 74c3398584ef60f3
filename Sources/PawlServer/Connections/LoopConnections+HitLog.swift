import PawlBase
import PawlHTTP
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
    if services.events.isEnabled(.debug) { explainHit(request(), route, status: status) }
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

  /// Writes the line of the event log that explains a hit, at the level `debug`.
  private func explainHit(_ request: HotRequest, _ route: RouteSettings, status: Int) {
    events.log(
      .debug, "request-explained",
      [
        "request": "-", "method": "GET", "host": request.authority.text, "target": services.shown(request.target).text,
        "route": route.name, "way": "the short way of cached hits",
        "found": "complete, at hand and fresh (RFC 9111 §4.2)", "does": "serves the stored response", "cache": "hit",
        "status": "\(status)",
      ])
  }

  /// Returns the values that formats of the access log show beside those of ``AccessRecord``, of a hit on the hot path; `nil` if the
  /// format shows none.
  /// - Parameters:
  ///   - head: the head of the response, as it was sent; empty if it is not known.
  ///   - isCounted: whether its size counts as sent.
  ///   - field: returns the value of a field of the request.
  func hitExtras(
    _ facts: ClientFacts, requestLength: @autoclosure () -> Int, head: @autoclosure () -> Bytes, isCounted: Bool = true,
    _ field: (String) -> Bytes?
  ) -> AccessExtras? {
    guard let log = services.accessLog, log.hasExtras, let format = log.extras else { return nil }
    let head = head()
    return AccessExtras(
      isSecure: facts.isSecure, serverPort: facts.port, remotePort: facts.client?.port ?? 0,
      requestLength: UInt64(requestLength()), headLength: isCounted ? UInt64(head.count) : 0, origin: nil,
      requestFields: format.requestFields.map { field($0).map(services.shown) },
      responseFields: format.responseFields.map { RecordedExtras.value(of: $0, in: head).map(services.shown) })
  }
}
