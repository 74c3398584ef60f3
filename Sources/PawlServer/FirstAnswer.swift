import PawlCache
import PawlHTTP

/// What the first answer to a fetch said of the representation. Most fetches are never broken off: only its length is
/// looked at before that.
struct FirstAnswer {
  /// The length in bytes, content coding included; `nil` while unknown.
  let total: UInt64?
  private let head: ResponseHead?
  private let framing: BodyFraming
  private let receivedAt: Int64
  private(set) lazy var identity: RepresentationIdentity = read()

  /// A 200's; of any other answer, give the identity itself.
  /// - Parameter receivedAt: wall clock, seconds since 1970.
  init(_ head: ResponseHead, _ framing: BodyFraming, receivedAt: Int64) {
    (self.head, self.framing, self.receivedAt) = (head, framing, receivedAt)
    if case .length(let length) = framing { total = length } else { total = nil }
  }

  init(_ identity: RepresentationIdentity) {
    (head, framing, receivedAt, total) = (nil, .none, 0, identity.total)
    self.identity = identity
  }

  private func read() -> RepresentationIdentity {
    RepresentationIdentity(
      head: head ?? ResponseHead(status: 200), framing: framing, receivedAt: receivedAt)
  }
}
