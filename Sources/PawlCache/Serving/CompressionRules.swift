package import PawlHTTP

/// Which responses pawl compresses itself (RFC 9110 §8.4.1, §7.7: what an intermediary may transform).
package struct CompressionRules: Hashable, Sendable {
  /// None: nothing is compressed. `text/event-stream` counts only where it is one of them by its name.
  package let types: [MediaTypePattern]
  /// Of each, what tells most others from it at a glance.
  private let marks: [MediaTypePattern.Mark]
  /// Bytes of content; less is not worth it.
  package var least: UInt64
  /// Bytes of content; more takes too long.
  package var greatest: UInt64
  /// Also what is there to be saved as a file (`Content-Disposition: attachment`, RFC 6266): the larger it is the more a download
  /// that can be resumed is worth, and the less a client knows of its progress without a length.
  package var attachments: Bool

  package init(
    types: [MediaTypePattern] = CompressedTypes.text, least: UInt64 = 1 << 10, greatest: UInt64 = 8 << 20,
    attachments: Bool = false
  ) {
    (self.types, self.least, self.greatest, self.attachments) = (types, least, greatest, attachments)
    marks = types.map(\.mark)
  }

  /// Whether this response is compressed for a request that takes a coding. Then the form that is not compressed says
  /// `Vary: Accept-Encoding`, too (RFC 9110 §12.5.5).
  /// - Parameters:
  ///   - head: as the origin gave it.
  ///   - length: of its content, in bytes; `nil` while nobody knows it: then no limit holds.
  package func apply(to head: ResponseHead, length: UInt64?) -> Bool {
    guard !types.isEmpty, Self.mayBeCompressed(status: head.status) else { return false }
    if let length, length < least || length > greatest { return false }
    // The type comes first: it rules most of them out.
    guard let type = head.fields.mediaType, isListed(type) else { return false }
    // It is compressed already, or a part of something: neither can be told from what it would become.
    if head.fields.contains(.contentEncoding) || head.fields.contains(.contentRange) { return false }
    return !Self.forbidsTransforming(head.fields) && (attachments || !Self.isAttachment(head.fields))
  }

  /// Whether a message with these fields says `Cache-Control: no-transform`: a response may not be compressed then, and of a request
  /// its answer may not (RFC 9111 §5.2.1.6, §5.2.2.6).
  package static func forbidsTransforming(_ fields: Fields) -> Bool {
    guard fields.contains(.cacheControl) else { return false }
    // Hardly any says so: the directives are read where the bytes are there.
    return fields.lines.contains { $0.name == .cacheControl && mayForbid(fields.value($0)) }
      && CacheControl(fields).noTransform
  }

  /// Whether there is a `-t` in it, as in `no-transform` and no other directive that is registered.
  private static func mayForbid(_ value: Bytes) -> Bool {
    var isBehindHyphen = false
    for byte in value {
      if isBehindHyphen, byte | 0x20 == 0x74 { return true }
      isBehindHyphen = byte == 0x2d
    }
    return false
  }

  /// Whether a response with these fields is a stream of events (HTML Standard, Server-sent events): when it is compressed, each
  /// event has to be flushed.
  package static func isEventStream(_ fields: Fields) -> Bool { fields.mediaType.map(isEventStream) ?? false }

  private static func isEventStream(_ type: Bytes) -> Bool { type.equalsIgnoringCase("text/event-stream") }

  /// Whether it is one of the types, whatever else is said of it.
  package func lists(_ type: Bytes) -> Bool { isListed(type) }

  private func isListed(_ type: Bytes) -> Bool {
    let digest = MediaTypePattern.digest(of: type)
    for index in marks.indices where digest & marks[index].mask == marks[index].value {
      let pattern = types[index]
      if pattern.matches(type), pattern.isExact || !Self.isEventStream(type) { return true }
    }
    return false
  }

  /// What has the content of its own resource (200, 203), or the page of an error. Never parts (206), what has no content (1xx, 204,
  /// 304), and what a client hardly reads (other 2xx, redirections).
  private static func mayBeCompressed(status: Int) -> Bool {
    status == 200 || status == 203 || (400...599).contains(status)
  }

  private static func isAttachment(_ fields: Fields) -> Bool {
    guard let value = fields.first(.contentDisposition) else { return false }
    // What is not known is an attachment (RFC 6266 §4.2).
    return !value.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase("inline")
  }
}
