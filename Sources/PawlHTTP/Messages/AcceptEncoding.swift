/// The content codings that a request accepts, with their weights (RFC 9110 §12.5.3). No byte of the field is kept.
package struct AcceptEncoding: Hashable, Sendable {
  /// A weight in thousandths, the precision of the field (RFC 9110 §12.4.2).
  private typealias Weight = UInt16
  /// The weight of a coding that the field does not name.
  private static let omitted = Weight.max
  /// The most members that are read; further ones are ignored. Browsers send four or five.
  package static let longest = 32

  private var gzip = omitted
  private var brotli = omitted
  private var zstd = omitted
  private var identity = omitted
  /// The weight of `*`: of all codings that are not named.
  private var others = omitted
  private var left = longest

  /// The codings that a request with these fields accepts. Members that are malformed, or name an unknown coding, are ignored. If
  /// a coding is named twice, the smaller weight counts.
  package init(_ fields: Fields) {
    for line in fields.lines where line.name == .acceptEncoding { add(fields.value(line)) }
  }

  /// The codings of a request without the field: none.
  package init() {}

  /// Adds one more line of the field.
  package mutating func add(_ value: Bytes) {
    for member in value.listElements {
      if left == 0 { return }
      left -= 1
      read(member)
    }
  }

  /// Chooses the coding for the response: the one of `codings` with the largest weight, and among several with that weight the
  /// first. `nil` for `identity`.
  ///
  /// A coding is chosen only if its weight is above zero and, where the field names `identity`, not below the weight of
  /// `identity`. Without the field, or if it names no available coding, the response is `identity`, even where the field excludes
  /// `identity`, because every client can read uncoded content (RFC 9110 §12.5.3, last paragraph).
  /// - Parameter codings: the available codings, the best first: usually zstd, Brotli, gzip. zstd and Brotli compress text
  ///   about equally well; zstd takes half of Brotli's time for content that is stored, and a third of it for content that is
  ///   compressed for one reader. gzip compresses worse than either and is not faster.
  package func preferred(among codings: [ContentCoding]) -> ContentCoding? {
    var (best, most): (ContentCoding?, Weight) = (nil, 0)
    for coding in codings {
      let weight = weight(of: coding)
      if weight > most { (best, most) = (coding, weight) }
    }
    return identity == Self.omitted || most >= identity ? best : nil
  }

  /// Whether the request accepts this coding.
  package func accepts(_ coding: ContentCoding) -> Bool { weight(of: coding) > 0 }

  private func weight(of coding: ContentCoding) -> Weight {
    let own =
      switch coding {
      case .gzip: gzip
      case .brotli: brotli
      case .zstd: zstd
      }
    if own != Self.omitted { return own }
    return others == Self.omitted ? 0 : others
  }

  private mutating func read(_ member: Bytes) {
    var scanner = ByteScanner(member)
    guard let name = scanner.token(), let weight = scanner.weight() else { return }
    switch ContentCoding(name: name) {
    case .gzip: gzip = min(gzip, weight)
    case .brotli: brotli = min(brotli, weight)
    case .zstd: zstd = min(zstd, weight)
    case nil:
      if name.equals("*") { others = min(others, weight) }
      if name.equalsIgnoringCase("identity") { identity = min(identity, weight) }
    }
  }
}

extension ByteScanner {
  /// Reads a weight (RFC 9110 §12.4.2), which is the rest of a list member after its name: `;q=` and a number from 0 to 1 with at most
  /// three decimals. Returns thousandths, 1000 if there is no weight, and `nil` for anything else.
  mutating func weight() -> UInt16? {
    skipBlanks()
    if isAtEnd { return 1000 }
    guard skip(0x3b) else { return nil }
    skipBlanks()
    guard skip(ignoringCase: "q="), let whole = decimal(digits: 1), whole <= 1 else { return nil }
    var weight = UInt16(whole) * 1000
    if skip(0x2e) {
      for place: UInt16 in [100, 10, 1] {
        guard let digit = decimal(digits: 1) else { break }
        weight += UInt16(digit) * place
      }
    }
    return isAtEnd && weight <= 1000 ? weight : nil
  }
}
