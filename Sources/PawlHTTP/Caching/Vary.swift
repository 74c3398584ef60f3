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
        if member.equals("*") || !member.allSatisfy(ByteSet.token.contains) {
          isStar = true
        } else {
          names.append(member.map(\.lowercasedASCII))
        }
      }
    }
    names.sort { $0.lexicographicallyPrecedes($1) }
    names = names.enumerated().filter { $0.offset == 0 || names[$0.offset - 1] != $0.element }.map(\.element)
  }

  /// The request's values of the named fields in a form whose bytes are equal when the values mean the same.
  /// Lines are joined and blanks around commas dropped; languages and codings are also lower-cased, and sorted,
  /// because their order says nothing (RFC 9110 §12.5.4). An absent field equals only an absent one.
  package func selectingValues(in request: Fields) -> [UInt8] {
    var output: [UInt8] = []
    guard !names.isEmpty else { return output }
    output.reserveCapacity(128)
    for name in names {
      output.append(contentsOf: name)
      appendValue(of: name, in: request, to: &output)
      output.append(0x0a)
    }
    return output
  }

  private func appendValue(of name: [UInt8], in request: Fields, to output: inout [UInt8]) {
    let known = FieldName(name)
    var members = CanonicalMembers(name: known)
    var isPresent = false
    for line in request.lines where line.name == known {
      if known == .other, !request.name(line).equalsIgnoringCase(name) { continue }
      isPresent = true
      members.add(request.value(line))
    }
    guard isPresent else { return }
    output.append(0x3a)
    members.write(to: &output)
  }
}

/// The members of one selecting field, gathered in one buffer.
private struct CanonicalMembers {
  private enum Form { case exact, list, unorderedList }
  private let form: Form
  private var bytes: [UInt8] = []
  private var ranges: [Range<Int>] = []

  init(name: FieldName) {
    form =
      switch name {
      case .acceptEncoding, .acceptLanguage: .unorderedList
      case .cookie, .authorization, .proxyAuthorization: .exact
      default: .list
      }
  }

  mutating func add(_ value: Bytes) {
    switch form {
    case .exact:
      let start = bytes.count
      bytes.append(contentsOf: value)
      bytes.append(0x00)  // keeps two lines from being one
      ranges.append(start..<bytes.count)
    case .list:
      for member in value.listElements {
        let start = bytes.count
        bytes.append(contentsOf: member)
        ranges.append(start..<bytes.count)
      }
    case .unorderedList:
      for member in value.listElements { addCanonical(member) }
    }
  }

  /// Lower-case, without blanks, without a weight of 1, which is the default (RFC 9110 §12.4.2).
  private mutating func addCanonical(_ member: Bytes) {
    let start = bytes.count
    for byte in member where !byte.isBlank { bytes.append(byte.lowercasedASCII) }
    if let weight = bytes[start...].firstIndex(of: 0x3b), bytes[weight...].hasPrefix(";q=1"),
      bytes[(weight + 4)...].allSatisfy({ $0 == 0x30 || $0 == 0x2e })
    {
      bytes.removeSubrange(weight...)
    }
    ranges.append(start..<bytes.count)
  }

  /// Separated by commas; where order says nothing, sorted and each once.
  mutating func write(to output: inout [UInt8]) {
    let bytes = bytes
    if form == .unorderedList {
      ranges.sort { bytes[$0].lexicographicallyPrecedes(bytes[$1]) }
    }
    for (index, range) in ranges.enumerated() {
      if index > 0 {
        if form == .unorderedList, bytes[ranges[index - 1]] == bytes[range] { continue }
        output.append(0x2c)
      }
      output.append(contentsOf: bytes[range])
    }
  }
}
