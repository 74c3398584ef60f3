/// Content that goes on as long as somebody listens: what comes now is the point of it, and what came before is of no use to others.
package enum LiveStream {
  /// Whether a response with these fields is one: `text/event-stream` (HTML Standard, Server-sent events), or `multipart/x-mixed-replace`.
  package static func isOne(_ fields: Fields) -> Bool {
    // What begins with neither `t` nor `m` is neither.
    guard let value = fields.first(.contentType), let first = value.first, [0x74, 0x6d].contains(first | 0x20) else {
      return false
    }
    let type = value.prefix { $0 != 0x3b }.trimmed
    return type.equalsIgnoringCase("text/event-stream") || type.equalsIgnoringCase("multipart/x-mixed-replace")
  }

  /// Whether a request asks for events, as `EventSource` does.
  package static func isWanted(_ fields: Fields) -> Bool {
    fields.first(.accept).map { $0.trimmed.hasPrefix("text/event-stream") } ?? false
  }
}
