import PawlCache
import PawlHTTP

/// The description of the representation in the first response to a fetch. Most fetches never break off, so only the length is read from
/// the head before a break.
struct FirstResponse {
  /// The length in bytes, content coding included; `nil` while unknown.
  let total: UInt64?
  /// Whether the fetch ends with this response, because no other bytes may be appended to its bytes after a break.
  let isFinal: Bool
  private let head: ResponseHead?
  private let framing: BodyFraming
  private let receivedAt: Int64
  private(set) lazy var identity: RepresentationIdentity = read()

  /// Describes a 200 response, which can be continued after a break. To continue another response, pass its identity instead.
  init(_ head: ResponseHead, _ framing: BodyFraming, receivedAt: Int64) {
    (self.head, self.framing, self.receivedAt, isFinal) = (head, framing, receivedAt, head.status != 200)
    if case .length(let length) = framing { total = length } else { total = nil }
  }

  /// - Parameter status: the status of the response whose content is fetched.
  init(_ identity: RepresentationIdentity, status: Int = 200) {
    (head, framing, receivedAt, total, isFinal) = (nil, .none, 0, identity.total, status != 200)
    self.identity = identity
  }

  /// Describes content that is passed on as it comes, and not continued after a break.
  static var final: FirstResponse { FirstResponse(ResponseHead(status: 0), .none, receivedAt: 0) }

  private func read() -> RepresentationIdentity {
    RepresentationIdentity(
      head: head ?? ResponseHead(status: 200), framing: framing, receivedAt: receivedAt)
  }
}
