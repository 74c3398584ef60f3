/// The request fields that select a response (RFC 9110 §12.5.5, RFC 9111 §4.1).
package struct VaryRule: Hashable, Sendable {
  /// Whether there is a `*`, or a member that is no field name. If so, no other request is known to match.
  package private(set) var isStar = false
  /// The names of the fields: in lower case, sorted, each once.
  package private(set) var names: [[UInt8]] = []

  /// The rule of a response with these fields; without `Vary` it has no names.
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

  /// The values of the named fields in a canonical form: the bytes are equal when the values mean the same (RFC 9111 §4.1).
  /// Fields that are known to be lists are compared by their members: languages by falling weight and then in their order, since
  /// many origins use the first language of equal weight (RFC 9110 §12.5.4); codings in any order (§12.5.3). In other fields a
  /// comma may be part of a value, so their values are compared unchanged, several lines joined (§5.3). An absent field is equal
  /// only to an absent field.
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

/// The members of one field that `Vary` names, in one buffer.
private struct CanonicalMembers {
  private enum Form {
    /// Each line as it is.
    case exact
    /// The lines as they are, joined by a comma and a blank.
    case joined
    case list
    /// Members by falling weight; members of equal weight in their order.
    case weighted
    case unordered
  }
  private let form: Form
  private var bytes: [UInt8] = []
  private var ranges: [Range<Int>] = []
  /// The weight of each member of a weighted list, in thousandths.
  private var weights: [Int] = []

  init(name: FieldName) {
    form =
      switch name {
      case .acceptEncoding: .unordered
      case .acceptLanguage: .weighted
      case .accept: .list
      case .cookie, .authorization, .proxyAuthorization: .exact
      default: .joined
      }
  }

  mutating func add(_ value: Bytes) {
    switch form {
    case .exact:
      let start = bytes.count
      bytes.append(contentsOf: value)
      bytes.append(0x00)  // Two lines are never equal to one line.
      ranges.append(start..<bytes.count)
    case .joined:
      let start = bytes.count
      if !ranges.isEmpty { bytes.append(0x20) }
      bytes.append(contentsOf: value.trimmed)
      ranges.append(start..<bytes.count)
    case .list:
      for member in value.listElements {
        let start = bytes.count
        bytes.append(contentsOf: member)
        ranges.append(start..<bytes.count)
      }
    case .weighted, .unordered:
      for member in value.listElements { addCanonical(member) }
    }
  }

  /// Appends a member in lower case, without blanks and without a weight of 1, which is the default (RFC 9110 §12.4.2).
  private mutating func addCanonical(_ member: Bytes) {
    let start = bytes.count
    for byte in member where !byte.isBlank { bytes.append(byte.lowercasedASCII) }
    if let weight = bytes[start...].firstIndex(of: 0x3b), bytes[weight...].hasPrefix(";q=1"),
      bytes[(weight + 4)...].allSatisfy({ $0 == 0x30 || $0 == 0x2e })
    {
      bytes.removeSubrange(weight...)
    }
    ranges.append(start..<bytes.count)
    if form == .weighted { weights.append(Self.weight(of: bytes[start...])) }
  }

  /// The weight in thousandths of a member in canonical form (RFC 9110 §12.4.2); 0 when it is malformed.
  private static func weight(of member: Bytes) -> Int {
    var scanner = ByteScanner(member[(member.firstIndex(of: 0x3b) ?? member.endIndex)...])
    return Int(scanner.weight() ?? 0)
  }

  /// Writes the members with commas between them; where their order does not matter, sorted and each once.
  mutating func write(to output: inout [UInt8]) {
    let bytes = bytes
    switch form {
    case .unordered: ranges.sort { bytes[$0].lexicographicallyPrecedes(bytes[$1]) }
    case .weighted:
      ranges = ranges.indices.sorted { (-weights[$0], $0) < (-weights[$1], $1) }.map { ranges[$0] }
    case .exact, .joined, .list: break
    }
    for (index, range) in ranges.enumerated() {
      if index > 0 {
        if form == .unordered, bytes[ranges[index - 1]] == bytes[range] { continue }
        output.append(0x2c)
      }
      output.append(contentsOf: bytes[range])
    }
  }
}
