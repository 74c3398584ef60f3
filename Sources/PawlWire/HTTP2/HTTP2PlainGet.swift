package import PawlHTTP

/// The parts of a head over HTTP/2 that matter when it requests a representation without conditions: the same as ``PlainGet``
/// over HTTP/1.1, as ranges of ``bytes``.
package struct HTTP2PlainGet: Sendable {
  package let bytes: [UInt8]
  let lines: [FieldLine]
  /// The authority, in lower case.
  package let authority: Range<Int>
  package let target: Range<Int>
  /// The value of the one `X-Request-Id` field.
  package let requestID: Range<Int>?
  package let hasCookie: Bool
  /// Whether a field of a proxy in front of pawl may give the scheme or the host that the client used.
  package let namesScheme: Bool

  /// Calls `tell` with the range of the value of each line with this name.
  package func each(_ name: FieldName, _ tell: (Range<Int>) -> Void) {
    for line in lines where line.name == name { tell(line.valueRange) }
  }

  /// The range of the value of the first line with this name.
  /// The value of the first line with this name, which may be unknown to pawl.
  package func first(named name: String) -> ArraySlice<UInt8>? {
    lines.first { bytes[$0.nameRange].equalsIgnoringCase(name.utf8) }.map { bytes[$0.valueRange] }
  }

  package func first(_ name: FieldName) -> Range<Int>? {
    let wanted = name.rawValue
    for line in lines where line.name.rawValue == wanted { return line.valueRange }
    return nil
  }
}
