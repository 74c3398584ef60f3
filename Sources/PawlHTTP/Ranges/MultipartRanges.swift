/// A `multipart/byteranges` body (RFC 9110 §14.6) whose exact length is known before its first byte is sent.
///
/// The body is ``head(of:)`` and the bytes for each range, then ``closing``. It begins with a line break, which is an empty
/// preamble (RFC 2046 §5.1.1), as in nginx: some clients look for a boundary with a line break before it.
package struct MultipartRanges: Sendable {
  package let ranges: [ByteRange]
  private let heads: [[UInt8]]
  private let boundary: [UInt8]

  /// - Parameters:
  ///   - total: the length of the complete representation, in bytes.
  ///   - contentType: the media type of the representation; `nil` when it has none.
  ///   - boundary: 1 to 70 random letters and digits. The boundary may occur in the content, since `Content-Length` frames the
  ///     body.
  package init(ranges: [ByteRange], total: UInt64, contentType: Bytes?, boundary: [UInt8]) {
    (self.ranges, self.boundary) = (ranges, boundary)
    heads = ranges.map { Self.head($0, total, contentType, boundary) }
  }

  /// The response's `Content-Type`.
  package var contentType: [UInt8] {
    var output: [UInt8] = []
    output.append("multipart/byteranges; boundary=" as StaticString)
    output.append(contentsOf: boundary)
    return output
  }

  /// The response's `Content-Length`, in bytes.
  package var length: UInt64 {
    zip(heads, ranges).reduce(UInt64(closing.count)) { $0 + UInt64($1.0.count) + $1.1.count }
  }

  /// The delimiter, fields and empty line before the range with this index.
  package func head(of index: Int) -> [UInt8] { heads[index] }

  /// The last delimiter.
  package var closing: [UInt8] {
    var output: [UInt8] = []
    output.append("\r\n--" as StaticString)
    output.append(contentsOf: boundary)
    output.append("--\r\n" as StaticString)
    return output
  }

  private static func head(
    _ range: ByteRange, _ total: UInt64, _ contentType: Bytes?, _ boundary: [UInt8]
  ) -> [UInt8] {
    var output: [UInt8] = []
    output.append("\r\n--" as StaticString)
    output.append(contentsOf: boundary)
    if let contentType {
      output.append("\r\nContent-Type: " as StaticString)
      output.append(contentsOf: contentType)
    }
    output.append("\r\nContent-Range: " as StaticString)
    output.append(contentsOf: ContentRange.format(range, total: total))
    output.append("\r\n\r\n" as StaticString)
    return output
  }
}
