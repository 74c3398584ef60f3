import PawlHTTP
import PawlObserve

/// What the access log says of a hit that made no request, whatever version of HTTP it went out over.
struct HitLine {
  let request: HotRequest
  let route: RouteSettings
  let status: Int
  /// Octets of the body that were sent.
  let sent: UInt64
  let referer: Bytes?
  let userAgent: Bytes?
  let requestID: Bytes
  let durationMicros: UInt64
}

extension LoopConnections {
  /// Writes the line of a hit, where there is a log.
  /// - Parameters:
  ///   - line: asked for only then.
  ///   - more: puts in what only one version of HTTP has to say.
  @inline(__always)
  func logHit(_ facts: ClientFacts, _ line: () -> HitLine, _ more: (inout AccessRecord) -> Void = { _ in }) {
    guard let log = accessLog else { return }
    let line = line()
    var record = AccessRecord(time: clock.wallMilliseconds(), remote: facts.text[...])
    record.note(line.request, status: line.status, bytes: line.sent, line.route, facts.tls)
    record.referer = line.referer.map(services.shown)
    record.userAgent = line.userAgent
    record.requestID = line.requestID
    record.durationMicros = line.durationMicros
    more(&record)
    log.write(record)
  }
}
