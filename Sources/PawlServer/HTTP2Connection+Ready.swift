import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlStore
import PawlWire

/// Over HTTP/2 what ``ClientConnection/answerAtOnce(_:)`` is over HTTP/1.1: a plain GET of a small, fresh, complete body
/// that is in memory makes no stream of ours, no request and no exchange. Whatever is not exactly that takes the long way
/// and is answered the same.
extension HTTP2Connection {
  func session(
    _ session: HTTP2Session, answers get: HTTP2PlainGet, on id: HTTP2StreamID, with values: inout HTTP2FieldValues
  ) -> HTTP2ReadyAnswer? {
    guard phase == .open, !isDraining else { return nil }
    let request = HotRequest(
      authority: get.octets[get.authority], target: get.octets[get.target], hasCookie: get.hasCookie,
      namesScheme: get.namesScheme)
    guard let hot = owner.hotResponse(request, facts), let body = hot.stored.body.inMemory, !body.isEmpty,
      hot.answer.total == UInt64(body.count)
    else { return nil }
    hot.store.noteUse(hot.stored)
    let log = owner.server.accessLog
    var ownID: [UInt8]?
    if get.requestID == nil { ownID = RequestID.make() }
    append(hot, id: ownID, to: &values)
    if log != nil {
      var record = AccessRecord(time: 0, remote: facts.text[...])
      record.note(request, status: 200, bytes: hot.answer.total, hot.route, facts.tls)
      complete(&record, of: get, ownID)
      readyLogs.append(HTTP2ReadyLog(id, record, owner.loop.now))
    }
    (hasServed, hasAnsweredReady) = (true, true)
    return HTTP2ReadyAnswer(hot.answer.headForHTTP2(hot.stored, hot.route), body: body, isWatched: log != nil)
  }

  private func append(_ hot: HotResponse, id: [UInt8]?, to values: inout HTTP2FieldValues) {
    let answer = hot.answer
    if !answer.hasDate { values.append("date", owner.dateField) }
    if facts.isSecure, let value = hot.route.strictTransport { values.append("strict-transport-security", value) }
    values.append("age", decimal: UInt64(max(0, hot.now - answer.bornAt)))
    values.append("cache-status", "pawl; hit; ttl=", decimal: UInt64(answer.freshUntil - hot.now))
    if let id { values.append("x-request-id", id, isUnique: true) }
  }

  private func complete(_ record: inout AccessRecord, of get: HTTP2PlainGet, _ id: [UInt8]?) {
    record.version = HTTPVersion.http2.text
    record.referer = get.first(.referer).map { owner.shown(get.octets[$0]) }
    record.userAgent = get.first(.userAgent).map { get.octets[$0] }
    record.requestID = id.map { $0[...] } ?? get.requestID.map { get.octets[$0] } ?? []
  }

  // MARK: - While they are sent

  /// Nothing but ready answers is being sent, or nothing at all.
  var isIdle: Bool { streams.isEmpty && session.readyCount == 0 }

  /// After what came was answered and sent, as far as it went.
  func timeReady() {
    guard hasAnsweredReady else { return }
    hasAnsweredReady = false
    if session.readyCount > 0 { return expect(within: listener.settings.sendTimeout) }
    guard streams.isEmpty else { return }
    idleSince = owner.loop.now
    expect(within: listener.settings.keepaliveTimeout)
  }

  /// Cuts those of which the client takes nothing; when to look again.
  func cutStuckReady(_ now: Monotonic) -> Duration? {
    guard session.readyCount > 0 else { return nil }
    let limit = listener.settings.sendTimeout
    let stuck = session.stuckReady(
      for: limit.wholeNanoseconds, at: Int64(clamping: now.nanoseconds),
      stuckSince: stuckSince.map { Int64(clamping: $0.nanoseconds) })
    for id in stuck { cutReady(id, BodyEnd(party: .client, reason: "send-timeout")) }
    return limit
  }

  func cutReady(_ id: HTTP2StreamID, _ end: BodyEnd) {
    let sent = session.readySent(of: id)
    let index = readyLogs.firstIndex { $0.stream == id }
    let record = index.map { readyLogs[$0].record }
    if let index { logReady(at: index, end, sent: sent) }
    owner.events.log(
      .warning, "transfer-cut",
      [
        "by": end.party.rawValue, "why": end.reason, "target": record?.target.text ?? "-", "sent": "\(sent)",
        "request": record?.requestID.text ?? "-",
      ])
    session.reset(id, end.party == .client ? .cancel : .internalError)
    pump()
  }

  // MARK: - Their lines in the log

  func session(_ session: HTTP2Session, closedReady id: HTTP2StreamID, by code: UInt32?, sent: Int) {
    // Answered: its line is written when it is sent.
    guard let index = readyLogs.firstIndex(where: { $0.stream == id }), readyLogs[index].until == nil else { return }
    logReady(at: index, BodyEnd(party: .client, reason: HTTP2Stream.reason(of: code)), sent: sent)
  }

  /// Its end is in what is being produced.
  func answeredReady(_ id: HTTP2StreamID) {
    guard let index = readyLogs.firstIndex(where: { $0.stream == id }) else { return }
    readyLogs[index].until = .max
  }

  /// Those that became complete in what was just produced are sent when that is.
  func noteAnsweredReady() {
    for index in readyLogs.indices where readyLogs[index].until == .max { readyLogs[index].until = produced }
  }

  func logSentReady() {
    let now = owner.loop.now
    while let index = readyLogs.firstIndex(where: { $0.until.map { $0 <= written } ?? false }) {
      write(readyLogs.remove(at: index), now)
    }
  }

  /// The connection is over for all of them, or (`unanswered`) for those whose end is not produced.
  func dropReady(_ end: BodyEnd, unanswered: Bool) {
    for index in readyLogs.indices.reversed() where !unanswered || readyLogs[index].until == nil {
      logReady(
        at: index, end, sent: readyLogs[index].until == nil ? session.readySent(of: readyLogs[index].stream) : nil)
    }
  }

  /// - Parameter sent: octets of the body; `nil`: all.
  private func logReady(at index: Int, _ end: BodyEnd, sent: Int?) {
    var log = readyLogs.remove(at: index)
    if let sent { log.record.bytes = UInt64(sent) }
    log.record.end(end)
    write(log, owner.loop.now)
  }

  private func write(_ log: HTTP2ReadyLog, _ now: Monotonic) {
    var record = log.record
    record.time = owner.server.clock.wallMilliseconds()
    record.durationMicros = now.microseconds(since: log.began)
    owner.server.accessLog?.write(record)
  }
}

/// The line of an answer that is being sent on the short way.
struct HTTP2ReadyLog {
  let stream: HTTP2StreamID
  var record: AccessRecord
  let began: Monotonic
  /// When so many octets of the connection are sent, it is; `nil` while its end is not produced.
  var until: UInt64?

  init(_ stream: HTTP2StreamID, _ record: AccessRecord, _ began: Monotonic) {
    (self.stream, self.record, self.began) = (stream, record, began)
  }
}
