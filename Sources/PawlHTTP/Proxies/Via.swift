/// The `Via` field (RFC 9110 §7.6.3): who passed a message on, and so whether it goes round in a circle.
package enum Via {
  /// The name pawl goes by.
  package static let pseudonym: StaticString = "pawl"

  /// Adds pawl at the end.
  /// - Parameter version: the one the message came in.
  package static func append(to fields: inout Fields, version: HTTPVersion) {
    switch (version.major, version.minor) {
    case (1, 1): fields.append(.via, literal: "1.1 pawl")
    case (1, 0): fields.append(.via, literal: "1.0 pawl")
    case (2, 0): fields.append(.via, literal: "2.0 pawl")
    default:
      fields.append(.via, [0x30 + version.major % 10, 0x2e, 0x30 + version.minor % 10, 0x20] + Array("pawl".utf8))
    }
  }

  /// Says the same in a field that keeps no server from compressing, as `Via` does nginx by its defaults: `CDN-Loop` (RFC 8586).
  package static func appendLoopMark(to fields: inout Fields) { fields.append(.cdnLoop, literal: "pawl") }

  /// How often a message has come by pawl: by `Via`, or by `CDN-Loop` where it says that instead.
  package static func passages(in fields: Fields) -> Int {
    occurrences(of: pseudonym, in: fields) + loopMarks(of: pseudonym, in: fields)
  }

  /// `cdn-info = cdn-id *( OWS ";" OWS parameter )` (RFC 8586 §2).
  private static func loopMarks(of pseudonym: StaticString, in fields: Fields) -> Int {
    guard fields.contains(.cdnLoop) else { return 0 }
    return fields.all(.cdnLoop).reduce(0) { count, line in
      count
        + line.listElements.reduce(0) { $0 + ($1.prefix { $0 != 0x3b }.trimmed.equalsIgnoringCase(pseudonym) ? 1 : 0) }
    }
  }

  /// How many entries were received by `pseudonym`, in any case.
  package static func occurrences(of pseudonym: StaticString, in fields: Fields) -> Int {
    guard fields.contains(.via) else { return 0 }
    return fields.lines.reduce(0) { count, line in
      line.name == .via ? count + entries(fields.value(line), receivedBy: pseudonym) : count
    }
  }

  /// `[ protocol-name "/" ] protocol-version RWS received-by [ RWS comment ]`. A comma within a comment or quotes may
  /// split an entry; what follows it is then no protocol and name, unless somebody wants it to look so.
  private static func entries(_ line: Bytes, receivedBy pseudonym: StaticString) -> Int {
    line.listElements.reduce(0) { count, element in
      let receivedBy = element.drop { !$0.isBlank }.drop { $0.isBlank }.prefix { !$0.isBlank && $0 != 0x28 }
      return receivedBy.equalsIgnoringCase(pseudonym) ? count + 1 : count
    }
  }
}
