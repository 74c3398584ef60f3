/// The `Via` field (RFC 9110 §7.6.3): who passed a message on, and so whether it goes round in a circle.
package enum Via {
  /// The name pawl goes by.
  package static let pseudonym: StaticString = "pawl"

  /// Adds pawl at the end.
  /// - Parameter version: the one the message came in.
  package static func append(to fields: inout Fields, version: HTTPVersion) {
    var value: [UInt8] = []
    value.append(decimal: UInt64(version.major))
    value.append(0x2e)
    value.append(decimal: UInt64(version.minor))
    value.append(0x20)
    value.append(pseudonym)
    fields.append(.via, value)
  }

  /// How many entries were received by `pseudonym`, in any case.
  package static func occurrences(of pseudonym: StaticString, in fields: Fields) -> Int {
    fields.lines.reduce(0) { count, line in
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
