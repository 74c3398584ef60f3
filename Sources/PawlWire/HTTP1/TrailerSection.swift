import PawlHTTP

/// Which fields of a trailer section are kept.
package enum TrailerPolicy: Hashable, Sendable {
  /// Digests of what came before: of a client nothing else means something behind the content (protocols.md 8.1 row 37).
  case digests
  /// All that are sound: whoever passes an origin's on chooses.
  case all
}

/// The trailer section of a chunked body (RFC 9112 §7.1.2): checked as strictly as a head. Its fields are never merged
/// into the head.
struct TrailerSection: Sendable {
  private let policy: TrailerPolicy
  private(set) var fields = Fields()
  private var octets: [UInt8] = []
  private var lineStart = 0
  private var lineCount = 0

  init(_ policy: TrailerPolicy) { self.policy = policy }

  enum Step { case more, complete, malformed(StaticString) }

  mutating func take(_ octet: UInt8, limits: ChunkLimits) -> Step {
    guard octets.count < limits.trailer else { return .malformed("The trailer section is too large.") }
    octets.append(octet)
    guard octet == Octet.lineFeed else { return .more }
    if octets.count - lineStart == 2, octets[lineStart] == Octet.carriageReturn { return .complete }
    lineCount += 1
    guard lineCount <= limits.trailerFields else { return .malformed("There are too many trailer fields.") }
    guard takeLine() else { return .malformed("A trailer field is malformed.") }
    lineStart = octets.count
    return .more
  }

  private mutating func takeLine() -> Bool {
    guard let line = Self.parse(octets.span, from: lineStart) else { return false }
    let value = octets[line.valueRange]
    if Self.keeps(line.name) {
      fields.append(line.name, value)
    } else if policy == .all {
      fields.append(named: octets[line.nameRange], value)
    }
    return true
  }

  /// Whether a trailer field of this name may mean something after the content.
  static func keeps(_ name: FieldName) -> Bool {
    switch name {
    case .uploadChecksum, .contentDigest, .reprDigest: true
    default: false
    }
  }

  private static func parse(_ octets: Span<UInt8>, from start: Int) -> FieldLine? {
    let nameEnd = octets.firstOutside(.token, from: start, to: octets.count)
    guard nameEnd > start, nameEnd < octets.count, octets[nameEnd] == Octet.colon else { return nil }
    let valueStart = octets.firstNonBlank(from: nameEnd + 1, to: octets.count)
    let lineEnd = octets.firstControl(from: valueStart, to: octets.count)
    guard lineEnd + 2 == octets.count, octets[lineEnd] == Octet.carriageReturn else { return nil }
    let valueEnd = octets.withoutTrailingBlanks(from: valueStart, to: lineEnd)
    let name = KnownFieldNames.shared.find(octets, start..<nameEnd)
    return FieldLine(name: name, nameRange: start..<nameEnd, valueRange: valueStart..<valueEnd)
  }
}
