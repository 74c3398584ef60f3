/// A `multipart/form-data` body with one file, byte for byte as a browser makes it (HTML, "multipart/form-data encoding algorithm";
/// RFC 7578). The body is ``prefix``, the file's content, ``suffix``.
package struct MultipartForm: Hashable, Sendable {
  /// `Content-Type` of the request.
  package let contentType: [UInt8]
  package let prefix: [UInt8]
  package let suffix: [UInt8]

  /// - Parameters:
  ///   - field: the name of the file's part.
  ///   - fileName: the name as the client sent it; `nil`: `blob`, as in browsers.
  ///   - mediaType: a valid value of `Content-Type`; `nil`: `application/octet-stream`.
  ///   - fields: parts that precede the file, in order.
  ///   - boundary: 1 to 70 letters and digits, random, because the boundary must not occur in the content.
  package init(
    field: [UInt8], fileName: [UInt8]?, mediaType: [UInt8]?, fields: [(name: [UInt8], value: [UInt8])] = [],
    boundary: [UInt8]
  ) {
    var prefix: [UInt8] = []
    for (name, value) in fields {
      prefix.append(delimiter: boundary)
      prefix.append(disposition: name)
      prefix.append("\r\n\r\n" as StaticString)
      prefix += value.withLineEnds
      prefix.append("\r\n" as StaticString)
    }
    prefix.append(delimiter: boundary)
    prefix.append(disposition: field)
    prefix.append("; filename=\"" as StaticString)
    prefix.append(escaped: fileName.flatMap(FileName.safe) ?? Array("blob".utf8))
    prefix.append("\"\r\nContent-Type: " as StaticString)
    prefix += mediaType ?? Array("application/octet-stream".utf8)
    prefix.append("\r\n\r\n" as StaticString)
    self.prefix = prefix
    suffix = Array("\r\n--".utf8) + boundary + Array("--\r\n".utf8)
    contentType = Array("multipart/form-data; boundary=".utf8) + boundary
  }
}

extension [UInt8] {
  fileprivate mutating func append(delimiter boundary: [UInt8]) {
    append("--" as StaticString)
    self += boundary
    append("\r\n" as StaticString)
  }

  fileprivate mutating func append(disposition name: [UInt8]) {
    append("Content-Disposition: form-data; name=\"" as StaticString)
    append(escaped: name.withLineEnds)
    append(0x22)
  }

  /// Appends a name. Its quotes and line ends are percent-encoded; all its other bytes stay unchanged.
  fileprivate mutating func append(escaped name: [UInt8]) {
    for byte in name {
      if byte == 0x22 || byte == 0x0d || byte == 0x0a { append(percentEncoded: byte) } else { append(byte) }
    }
  }

  /// A copy in which each line end (CR, LF or CRLF) is CRLF. Names and values of a form are sent this way.
  fileprivate var withLineEnds: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(count)
    for (index, byte) in enumerated() {
      switch byte {
      case 0x0d: output.append("\r\n" as StaticString)
      case 0x0a: if index == 0 || self[index - 1] != 0x0d { output.append("\r\n" as StaticString) }
      default: output.append(byte)
      }
    }
    return output
  }
}
