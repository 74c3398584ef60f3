/// What is owed of an answer's content to its client, whatever version of HTTP it goes out over.
enum OwedContent: Hashable {
  /// No length was announced: there is as much of it as the source has.
  case unknown
  /// So many bytes are still to come of the length that was announced.
  case bytes(UInt64)

  /// A source that has more, or less, than was announced is our own mistake: the body ends visibly.
  static let tooLong = BodyEnd(party: .pawl, reason: "body-longer-than-announced")
  static let tooShort = BodyEnd(party: .pawl, reason: "body-shorter-than-announced")

  init(_ length: UInt64?) { self = length.map { .bytes($0) } ?? .unknown }

  /// Whether all of an announced length has been taken.
  var isPaid: Bool { self == .bytes(0) }

  /// So many bytes are about to go.
  /// - Returns: why they must not; then nothing changes.
  mutating func take(_ count: Int) -> BodyEnd? {
    guard case .bytes(let left) = self else { return nil }
    guard UInt64(count) <= left else { return Self.tooLong }
    self = .bytes(left - UInt64(count))
    return nil
  }

  /// So many of those taken have not gone, and come again.
  mutating func giveBack(_ count: Int) {
    if case .bytes(let left) = self { self = .bytes(left + UInt64(count)) }
  }

  /// The source is at its end.
  /// - Returns: what is wrong with that.
  func end() -> BodyEnd? {
    guard case .bytes(let left) = self, left > 0 else { return nil }
    return Self.tooShort
  }
}
