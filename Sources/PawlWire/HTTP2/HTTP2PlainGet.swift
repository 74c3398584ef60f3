package import PawlHTTP

/// What of a head over HTTP/2 matters when it asks for a representation as it is: the same as over HTTP/1.1
/// (``RequestParser``), as ranges of the bytes it came with.
package struct HTTP2PlainGet: Sendable {
  package let bytes: [UInt8]
  let lines: [FieldLine]
  /// In lower case.
  package let authority: Range<Int>
  package let target: Range<Int>
  /// The value of the one `X-Request-Id` field.
  package let requestID: Range<Int>?
  package let hasCookie: Bool
  /// Whether a proxy in front says what its client speaks.
  package let namesScheme: Bool

  /// Tells where the value of each line with this name stands.
  package func each(_ name: FieldName, _ tell: (Range<Int>) -> Void) {
    for line in lines where line.name == name { tell(line.valueRange) }
  }

  /// Where the value of the first line with this name stands.
  package func first(_ name: FieldName) -> Range<Int>? {
    let wanted = name.rawValue
    for line in lines where line.name.rawValue == wanted { return line.valueRange }
    return nil
  }
}
