/// The content of an answer that is still to be sent, in every version of HTTP.
enum OwedContent: Hashable {
  /// No length was announced: the source decides how much there is.
  case unknown
  /// The number of bytes that are still to be sent, out of the announced length.
  case bytes(UInt64)

  /// The reasons for which a body ends visibly if its source has more or fewer bytes than announced. That is an error of pawl;
  /// the client can see that the body is incomplete.
  static let tooLong = BodyEnd(party: .pawl, reason: "body-longer-than-announced")
  static let tooShort = BodyEnd(party: .pawl, reason: "body-shorter-than-announced")

  init(_ length: UInt64?) { self = length.map { .bytes($0) } ?? .unknown }

  /// Whether all of an announced length has been counted as sent.
  var isPaid: Bool { self == .bytes(0) }

  /// Counts bytes that are about to be sent.
  /// - Returns: an error if these bytes exceed the announced length, and must not be sent; then nothing is counted.
  mutating func take(_ count: Int) -> BodyEnd? {
    guard case .bytes(let left) = self else { return nil }
    guard UInt64(count) <= left else { return Self.tooLong }
    self = .bytes(left - UInt64(count))
    return nil
  }

  /// Notes that bytes were counted but not sent; the source returns them again later.
  mutating func giveBack(_ count: Int) {
    if case .bytes(let left) = self { self = .bytes(left + UInt64(count)) }
  }

  /// Checks the count when the source has ended.
  /// - Returns: an error if the source ended too early.
  func end() -> BodyEnd? {
    guard case .bytes(let left) = self, left > 0 else { return nil }
    return Self.tooShort
  }
}
