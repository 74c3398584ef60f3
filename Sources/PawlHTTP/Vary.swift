/// Which request fields chose a response (RFC 9110 §12.5.5, RFC 9111 §4.1).
package struct VaryRule: Hashable, Sendable {
  /// `*`, or a member that is no field name: no other request can be known to match.
  package private(set) var isStar = false
  /// Lower-case, sorted, each once.
  package private(set) var names: [[UInt8]] = []

  /// The rule of a response with these fields; without `Vary` it names nothing.
  package init(_ fields: Fields) {
    for line in fields.lines where line.name == .vary {
      for member in fields.value(line).listElements {
        if member.equals("*") || !member.allSatisfy(OctetSet.token.contains) {
          isStar = true
        } else {
          names.append(member.map(\.lowercasedASCII))
        }
      }
    }
    names.sort { $0.lexicographicallyPrecedes($1) }
    names = names.enumerated().filter { $0.offset == 0 || names[$0.offset - 1] != $0.element }.map(\.element)
  }

  /// The request's values of the named fields in a form whose octets are equal when the values mean the same.
  /// Lines are joined and blanks around commas dropped; languages and codings are also lower-cased, and sorted,
  /// because their order says nothing (RFC 9110 §12.5.4). An absent field equals only an absent one.
  package func selectingValues(in request: Fields) -> [UInt8] {
    var output: [UInt8] = []
    for name in names {
      output.append(contentsOf: name)
      appendValue(of: name, in: request, to: &output)
      output.append(0x0a)
    }
    return output
  }

  private func appendValue(of name: [UInt8], in request: Fields, to output: inout [UInt8]) {
    let known = FieldName(name)
    let values = known == .other ? request.all(named: name) : request.all(known)
    guard !values.isEmpty else { return }
    output.append(0x3a)
    switch known {
    case .acceptEncoding, .acceptLanguage:
      let members = Set(values.flatMap { $0.listElements.map(Self.canonicalMember) })
      Self.append(members.sorted { $0.lexicographicallyPrecedes($1) }.map { $0[...] }, to: &output)
    case .cookie, .authorization, .proxyAuthorization:
      for value in values {
        output.append(contentsOf: value)
        output.append(0x00)
      }
    default: Self.append(values.flatMap(\.listElements), to: &output)
    }
  }

  private static func append(_ members: [Bytes], to output: inout [UInt8]) {
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(0x2c) }
      output.append(contentsOf: member)
    }
  }

  /// Lower-case, without blanks, without a weight of 1, which is the default (RFC 9110 §12.4.2).
  private static func canonicalMember(_ member: Bytes) -> [UInt8] {
    let text = member.filter { !$0.isBlank }.map(\.lowercasedASCII)
    let parts = text.split(separator: 0x3b, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("q=1"), parts[1].dropFirst(3).allSatisfy({ $0 == 0x30 || $0 == 0x2e })
    else { return text }
    return Array(parts[0])
  }
}
