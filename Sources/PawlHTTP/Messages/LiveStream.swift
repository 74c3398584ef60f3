/// Content without an end. A client that comes later needs only what is sent from then on, not what was sent before.
package enum LiveStream {
  /// Whether a response with these fields is a live stream: `text/event-stream` (HTML Standard, Server-sent events) or
  /// `multipart/x-mixed-replace`.
  package static func isOne(_ fields: Fields) -> Bool {
    guard let value = fields.first(.contentType), value.count >= 17 else { return false }
    // A value that does not begin with `text/e`, `m` or a blank is neither of the two types.
    let first = value[value.startIndex] | 0x20
    guard first == 0x74 ? value[value.startIndex + 5] | 0x20 == 0x65 : first == 0x6d || first == 0x20 else {
      return false
    }
    let type = value.prefix { $0 != 0x3b }.trimmed
    return type.equalsIgnoringCase("text/event-stream") || type.equalsIgnoringCase("multipart/x-mixed-replace")
  }

  /// Whether a request asks for events, as `EventSource` does.
  package static func isWanted(_ fields: Fields) -> Bool {
    guard let value = fields.first(.accept), value.count >= 17 else { return false }
    return value.trimmed.hasPrefix("text/event-stream")
  }
}
