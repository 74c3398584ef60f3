import PawlHTTP

/// Which fields of a trailer section are kept.
package enum TrailerPolicy: Hashable, Sendable {
  /// Only digests of the content; no other trailer field of a client has a meaning for pawl (Hygiene, "forbidden trailers").
  case digests
  /// All well-formed fields of an origin; the relay later removes those that must not be forwarded.
  case all
}

/// The trailer section of a chunked body (RFC 9112 §7.1.2), checked as strictly as a head. Its fields are never merged into the
/// head.
struct TrailerSection: Sendable {
  private let policy: TrailerPolicy
  private(set) var fields = Fields()
  private var bytes: [UInt8] = []
  private var lineStart = 0
  private var lineCount = 0

  init(_ policy: TrailerPolicy) { self.policy = policy }

  enum Step { case more, complete, malformed(StaticString) }

  mutating func take(_ byte: UInt8, limits: ChunkLimits) -> Step {
    guard bytes.count < limits.trailer else { return .malformed("The trailer section is too large.") }
    bytes.append(byte)
    guard byte == Byte.lineFeed else { return .more }
    if bytes.count - lineStart == 2, bytes[lineStart] == Byte.carriageReturn { return .complete }
    lineCount += 1
    guard lineCount <= limits.trailerFields else { return .malformed("There are too many trailer fields.") }
    guard takeLine() else { return .malformed("A trailer field is malformed.") }
    lineStart = bytes.count
    return .more
  }

  private mutating func takeLine() -> Bool {
    guard let line = Self.parse(bytes.span, from: lineStart) else { return false }
    let value = bytes[line.valueRange]
    if Self.keeps(line.name) {
      fields.append(line.name, value)
    } else if policy == .all {
      fields.append(named: bytes[line.nameRange], value)
    }
    return true
  }

  /// Whether a trailer field of this name has a meaning after the content.
  static func keeps(_ name: FieldName) -> Bool {
    switch name {
    case .uploadChecksum, .contentDigest, .reprDigest: true
    default: false
    }
  }

  private static func parse(_ bytes: Span<UInt8>, from start: Int) -> FieldLine? {
    let nameEnd = bytes.firstOutside(.token, from: start, to: bytes.count)
    guard nameEnd > start, nameEnd < bytes.count, bytes[nameEnd] == Byte.colon else { return nil }
    let valueStart = bytes.firstNonBlank(from: nameEnd + 1, to: bytes.count)
    let lineEnd = bytes.firstControl(from: valueStart, to: bytes.count)
    guard lineEnd + 2 == bytes.count, bytes[lineEnd] == Byte.carriageReturn else { return nil }
    let valueEnd = bytes.withoutTrailingBlanks(from: valueStart, to: lineEnd)
    let name = KnownFieldNames.shared.find(bytes, start..<nameEnd)
    return FieldLine(name: name, nameRange: start..<nameEnd, valueRange: valueStart..<valueEnd)
  }
}
