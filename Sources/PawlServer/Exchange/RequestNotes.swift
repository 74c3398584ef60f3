import PawlObserve

/// What pawl decided about one request, and why: one line of the event log with `log-level = debug`.
final class RequestNotes {
  /// The most notes of one request. A transfer that is resumed very often has more.
  static let limit = 64
  private(set) var fields: EventFields = []

  func add(_ key: StaticString, _ value: String) {
    if fields.count < Self.limit { fields.append((key: key, value: value)) }
  }
}

extension IncomingRequest {
  /// Notes a decision for the line of the request. Costs one comparison unless the level is `debug`.
  @inline(__always)
  func explain(_ key: StaticString, _ value: @autoclosure () -> String) {
    if loop.events.isEnabled(.debug) { note(key, value()) }
  }

  private func note(_ key: StaticString, _ value: String) {
    let notes = record.notes ?? RequestNotes()
    record.notes = notes
    notes.add(key, value)
  }

  /// Writes the line of the request, at the level `debug`.
  func logExplanation() {
    guard loop.events.isEnabled(.debug), loop.explainsRequests else { return }
    var fields: EventFields = [
      (key: "request", value: idText), (key: "method", value: String(decoding: head.method.bytes, as: UTF8.self)),
      (key: "host", value: head.authority.text), (key: "target", value: shown(head.target).text),
      (key: "route", value: isRouted ? route.name : "none"),
    ]
    fields += record.notes?.fields ?? []
    fields += [(key: "cache", value: record.cacheOutcome.word), (key: "status", value: "\(record.status)")]
    if let end = record.end { fields.append((key: "ended", value: "\(end.party.rawValue): \(end.reason)")) }
    loop.events.log(.debug, "request-explained", fields: fields)
  }
}
