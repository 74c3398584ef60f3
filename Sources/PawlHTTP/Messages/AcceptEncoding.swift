/// Which content codings a request takes, and how gladly (RFC 9110 §12.5.3). No byte of the field is kept.
package struct AcceptEncoding: Hashable, Sendable {
  /// In thousandths, as precise as a weight can be written (RFC 9110 §12.4.2).
  private typealias Weight = UInt16
  /// Nothing is said of it.
  private static let unsaid = Weight.max
  /// Members that are read; what stands behind them says nothing. Browsers send four or five.
  package static let longest = 32

  private var gzip = unsaid
  private var brotli = unsaid
  private var zstd = unsaid
  private var identity = unsaid
  /// `*`: what is not named.
  private var others = unsaid
  private var left = longest

  /// What the request with these fields takes. A member that is malformed, or names a coding that is not known, says nothing. Of one
  /// that is named twice, the smaller weight counts.
  package init(_ fields: Fields) {
    for line in fields.lines where line.name == .acceptEncoding { add(fields.value(line)) }
  }

  /// Of a request without the field.
  package init() {}

  /// Takes in one more line of the field.
  package mutating func add(_ value: Bytes) {
    for member in value.listElements {
      if left == 0 { return }
      left -= 1
      read(member)
    }
  }

  /// What to answer with: of `codings` the one with the largest weight, and of several the first; `nil` for `identity`.
  ///
  /// A coding is taken only where its weight is not zero, and not less than the one that `identity` was given by its name. Without the
  /// field, or when it names nothing that is available, the answer is `identity`, also where that was excluded: it can be read by
  /// everybody (RFC 9110 §12.5.3, last paragraph).
  /// - Parameter codings: what is available, the best first: usually zstd, Brotli, gzip. zstd and Brotli make text about as small;
  ///   zstd takes half of Brotli's time for what is stored once, and a third of it for what is compressed for one reader. gzip makes
  ///   it larger than either, and is not faster.
  package func preferred(among codings: [ContentCoding]) -> ContentCoding? {
    var (best, most): (ContentCoding?, Weight) = (nil, 0)
    for coding in codings {
      let weight = weight(of: coding)
      if weight > most { (best, most) = (coding, weight) }
    }
    return identity == Self.unsaid || most >= identity ? best : nil
  }

  /// Whether it takes this coding.
  package func accepts(_ coding: ContentCoding) -> Bool { weight(of: coding) > 0 }

  private func weight(of coding: ContentCoding) -> Weight {
    let own =
      switch coding {
      case .gzip: gzip
      case .brotli: brotli
      case .zstd: zstd
      }
    if own != Self.unsaid { return own }
    return others == Self.unsaid ? 0 : others
  }

  private mutating func read(_ member: Bytes) {
    var scanner = ByteScanner(member)
    guard let name = scanner.token(), let weight = Self.weight(&scanner) else { return }
    switch ContentCoding(name: name) {
    case .gzip: gzip = min(gzip, weight)
    case .brotli: brotli = min(brotli, weight)
    case .zstd: zstd = min(zstd, weight)
    case nil:
      if name.equals("*") { others = min(others, weight) }
      if name.equalsIgnoringCase("identity") { identity = min(identity, weight) }
    }
  }

  /// What stands behind a name: 1 for nothing, else `;q=` and a number from 0 to 1 with three decimals at most. `nil` for anything else.
  private static func weight(_ scanner: inout ByteScanner) -> Weight? {
    scanner.skipBlanks()
    if scanner.isAtEnd { return 1000 }
    guard scanner.skip(0x3b) else { return nil }
    scanner.skipBlanks()
    guard scanner.skip(ignoringCase: "q="), let whole = scanner.decimal(digits: 1), whole <= 1 else { return nil }
    var weight = Weight(whole) * 1000
    if scanner.skip(0x2e) {
      for place: Weight in [100, 10, 1] {
        guard let digit = scanner.decimal(digits: 1) else { break }
        weight += Weight(digit) * place
      }
    }
    return scanner.isAtEnd && weight <= 1000 ? weight : nil
  }
}
