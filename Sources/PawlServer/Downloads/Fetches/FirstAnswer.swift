import PawlCache
import PawlHTTP

/// What the first answer to a fetch said of the representation. Most fetches are never broken off: only its length is
/// looked at before that.
struct FirstAnswer {
  /// The length in bytes, content coding included; `nil` while unknown.
  let total: UInt64?
  /// After a break nothing may be put behind its bytes.
  let isFinal: Bool
  private let head: ResponseHead?
  private let framing: BodyFraming
  private let receivedAt: Int64
  private(set) lazy var identity: RepresentationIdentity = read()

  /// A 200's; of any other answer, give the identity itself.
  /// - Parameter receivedAt: wall clock, seconds since 1970.
  init(_ head: ResponseHead, _ framing: BodyFraming, receivedAt: Int64) {
    (self.head, self.framing, self.receivedAt, isFinal) = (head, framing, receivedAt, head.status != 200)
    if case .length(let length) = framing { total = length } else { total = nil }
  }

  /// - Parameter status: of the answer whose content is fetched.
  init(_ identity: RepresentationIdentity, status: Int = 200) {
    (head, framing, receivedAt, total, isFinal) = (nil, .none, 0, identity.total, status != 200)
    self.identity = identity
  }

  /// Of what is passed on as it comes, to its end or to a visible one.
  static var final: FirstAnswer { FirstAnswer(ResponseHead(status: 0), .none, receivedAt: 0) }

  private func read() -> RepresentationIdentity {
    RepresentationIdentity(
      head: head ?? ResponseHead(status: 200), framing: framing, receivedAt: receivedAt)
  }
}
