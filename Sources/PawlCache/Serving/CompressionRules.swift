package import PawlHTTP

/// Which responses pawl compresses itself (RFC 9110 §8.4.1, §7.7: what an intermediary may transform).
package struct CompressionRules: Hashable, Sendable {
  /// The media types to compress; an empty list switches compression off. `text/event-stream` counts only where it is listed by
  /// its full name.
  package let types: [MediaTypePattern]
  /// For each pattern in ``types``, the mark that quickly rules out most media types.
  private let marks: [MediaTypePattern.Mark]
  /// The smallest content that is worth compressing, in bytes.
  package var least: UInt64
  /// The largest content that is compressed, in bytes. To compress larger content takes too long.
  package var greatest: UInt64
  /// Whether attachments are compressed, too (`Content-Disposition: attachment`, RFC 6266). A compressed download has no known
  /// length, so the client cannot show its progress, and the download is harder to resume.
  package var attachments: Bool

  package init(
    types: [MediaTypePattern] = CompressedTypes.text, least: UInt64 = 1 << 10, greatest: UInt64 = 8 << 20,
    attachments: Bool = false
  ) {
    (self.types, self.least, self.greatest, self.attachments) = (types, least, greatest, attachments)
    marks = types.map(\.mark)
  }

  /// Whether this response is compressed for a request that accepts a coding. If so, the uncompressed form has to carry `Vary:
  /// Accept-Encoding`, too (RFC 9110 §12.5.5).
  /// - Parameters:
  ///   - head: the head as the origin sent it.
  ///   - length: the length of the content, in bytes. `nil` while it is unknown; then the limits do not apply.
  package func apply(to head: ResponseHead, length: UInt64?) -> Bool {
    guard !types.isEmpty, Self.mayBeCompressed(status: head.status) else { return false }
    if let length, length < least || length > greatest { return false }
    // The type is checked first: it rules out most responses.
    guard let type = head.fields.mediaType, isListed(type) else { return false }
    // A response with a content coding is compressed already. A part cannot be compressed, because the result would not be a part
    // of the compressed body.
    if head.fields.contains(.contentEncoding) || head.fields.contains(.contentRange) { return false }
    return !Self.forbidsTransforming(head.fields) && (attachments || !Self.isAttachment(head.fields))
  }

  /// Whether a message has `Cache-Control: no-transform`. Such a response must not be compressed, and neither must the response
  /// to such a request (RFC 9111 §5.2.1.6, §5.2.2.6).
  package static func forbidsTransforming(_ fields: Fields) -> Bool {
    guard fields.contains(.cacheControl) else { return false }
    // Almost no message has `no-transform`, so this scan of the bytes mostly saves parsing the directives.
    return fields.lines.contains { $0.name == .cacheControl && mayForbid(fields.value($0)) }
      && CacheControl(fields).noTransform
  }

  /// Whether the value contains `-t`. Of the registered directives, only `no-transform` contains these two bytes.
  private static func mayForbid(_ value: Bytes) -> Bool {
    var isBehindHyphen = false
    for byte in value {
      if isBehindHyphen, byte | 0x20 == 0x74 { return true }
      isBehindHyphen = byte == 0x2d
    }
    return false
  }

  /// Whether a response is a stream of events (HTML Standard, Server-sent events), in which a compressor has to flush after each
  /// event.
  package static func isEventStream(_ fields: Fields) -> Bool { fields.mediaType.map(isEventStream) ?? false }

  private static func isEventStream(_ type: Bytes) -> Bool { type.equalsIgnoringCase("text/event-stream") }

  /// Whether the type is listed, whatever the other fields are.
  package func lists(_ type: Bytes) -> Bool { isListed(type) }

  private func isListed(_ type: Bytes) -> Bool {
    let digest = MediaTypePattern.digest(of: type)
    for index in marks.indices where digest & marks[index].mask == marks[index].value {
      let pattern = types[index]
      if pattern.matches(type), pattern.isExact || !Self.isEventStream(type) { return true }
    }
    return false
  }

  /// Whether a status may be compressed: a representation of the resource (200, 203) or an error page. Parts (206), statuses
  /// without content (1xx, 204, 304), and statuses whose content clients hardly read (other 2xx, redirections) are not
  /// compressed.
  private static func mayBeCompressed(status: Int) -> Bool {
    status == 200 || status == 203 || (400...599).contains(status)
  }

  private static func isAttachment(_ fields: Fields) -> Bool {
    guard let value = fields.first(.contentDisposition) else { return false }
    // An unknown disposition type is treated as an attachment (RFC 6266 §4.2).
    return !value.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase("inline")
  }
}
