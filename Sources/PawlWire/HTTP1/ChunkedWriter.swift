import PawlBase
package import PawlHTTP

/// Writes the lines around chunks (RFC 9112 §7.1). A chunk is the line of ``appendHeader(_:into:)``, then the content of that
/// length, and ``lineEnd``; the body ends with ``last``.
package enum ChunkedWriter {
  package static let lineEnd: [UInt8] = [0x0d, 0x0a]
  package static let last: [UInt8] = [0x30, 0x0d, 0x0a, 0x0d, 0x0a]

  /// The line before `count` bytes of content; empty for 0, since a chunk of size zero would end the body.
  package static func header(_ count: Int) -> [UInt8] {
    var output: [UInt8] = []
    appendHeader(count, into: &output)
    return output
  }

  package static func appendHeader(_ count: Int, into output: inout [UInt8]) {
    guard count > 0 else { return }
    var shift = (Int.bitWidth - 1 - count.leadingZeroBitCount) & ~3
    while shift >= 0 {
      output.append(.hexDigit(UInt8(truncatingIfNeeded: count >> shift) & 0x0f))
      shift -= 4
    }
    output.append(contentsOf: lineEnd)
  }

  /// Appends a complete chunk; nothing for empty content.
  package static func append(_ content: some Collection<UInt8>, into output: inout [UInt8]) {
    guard !content.isEmpty else { return }
    appendHeader(content.count, into: &output)
    output.append(contentsOf: content)
    output.append(contentsOf: lineEnd)
  }

  /// Appends the end of the body with a trailer section.
  package static func appendLast(trailers: Fields, into output: inout [UInt8]) {
    output.append("0\r\n" as StaticString)
    trailers.serialize(into: &output)
    output.append(contentsOf: lineEnd)
  }
}
