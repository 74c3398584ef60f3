/// The `Via` field (RFC 9110 §7.6.3): the proxies that forwarded a message, by which pawl detects loops.
package enum Via {
  /// The name of pawl in `Via`.
  package static let pseudonym: StaticString = "pawl"

  /// Appends pawl to `Via`.
  /// - Parameter version: of the received message.
  package static func append(to fields: inout Fields, version: HTTPVersion) {
    switch (version.major, version.minor) {
    case (1, 1): fields.append(.via, literal: "1.1 pawl")
    case (1, 0): fields.append(.via, literal: "1.0 pawl")
    case (2, 0): fields.append(.via, literal: "2.0 pawl")
    default:
      fields.append(.via, [0x30 + version.major % 10, 0x2e, 0x30 + version.minor % 10, 0x20] + Array("pawl".utf8))
    }
  }

  /// Marks the message in `CDN-Loop` instead of `Via` (RFC 8586). The reason: some servers do not compress the response to a
  /// request with `Via`; nginx is one of them by default.
  package static func appendLoopMark(to fields: inout Fields) { fields.append(.cdnLoop, literal: "pawl") }

  /// How often a message passed through pawl, by `Via` and `CDN-Loop`.
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

  /// The number of `Via` entries with the name `pseudonym`; upper and lower case are the same.
  package static func occurrences(of pseudonym: StaticString, in fields: Fields) -> Int {
    guard fields.contains(.via) else { return 0 }
    return fields.lines.reduce(0) { count, line in
      line.name == .via ? count + entries(fields.value(line), receivedBy: pseudonym) : count
    }
  }

  /// Counts entries `[ protocol-name "/" ] protocol-version RWS received-by [ RWS comment ]`. A comma within a comment splits an
  /// entry in two. The second part is counted only if its second word is `pseudonym`, which does not happen by chance.
  private static func entries(_ line: Bytes, receivedBy pseudonym: StaticString) -> Int {
    line.listElements.reduce(0) { count, element in
      let receivedBy = element.drop { !$0.isBlank }.drop { $0.isBlank }.prefix { !$0.isBlank && $0 != 0x28 }
      return receivedBy.equalsIgnoringCase(pseudonym) ? count + 1 : count
    }
  }
}
