import PawlHTTP
import PawlObserve
import PawlWire

extension LoopConnections {
  /// Counts and logs input that never became a request.
  /// - Parameters:
  ///   - facts: the facts of the client's connection.
  ///   - head: what was read of the request; `nil`: nothing.
  ///   - answer: the bytes of the response's head over HTTP/1.1; empty if there is none.
  func logRefusal(
    _ facts: ClientFacts, status: Int, bytes: Int, _ head: @autoclosure () -> RefusedHead?, answer: Bytes = []
  ) {
    counters.addRequest(StatusClass(status), .none)
    counters.add(.endedByClient)
    counters.add(.toClientFromPawl, UInt64(bytes))
    guard let accessLog = services.accessLog else { return }
    var record = AccessRecord(refused: status, bytes: bytes, facts.text[...], wall: clock.wallMilliseconds())
    record.note(facts.tls)
    if let head = head(), !head.line.isEmpty {
      record.requestLine = services.shown(head.line)
      (record.method, record.target) = (head.method, services.shown(head.target))
      (record.sentVersion, record.host) = (head.version, head.host)
    }
    if accessLog.hasExtras, let format = accessLog.extras {
      record.extras = AccessExtras(
        isSecure: facts.isSecure, serverPort: facts.port, remotePort: facts.client?.port ?? 0, requestLength: 0,
        headLength: UInt64(answer.count), origin: nil, requestFields: format.requestFields.map { _ in nil },
        responseFields: format.responseFields.map { RecordedExtras.value(of: $0, in: answer) })
    }
    accessLog.write(record)
  }
}
