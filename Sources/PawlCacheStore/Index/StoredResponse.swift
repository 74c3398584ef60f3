package import PawlBase
package import PawlCache
package import PawlDisk
import PawlLoop

/// One response as it can be given to clients: a head and its body. Immutable except for its locked properties. A 304 leads to a
/// new response with the same body.
package final class StoredResponse: Sendable {
  package let head: StoredHead
  package let body: StoredBody
  /// The time at which the response was stored (wall clock, seconds since 1970).
  package let storedAt: Int64
  /// The owner of a private response, which was stored because of `resume-private`; `nil` for a shared response.
  package let personal: PersonalBinding?
  /// Other owners to whom the origin has confirmed the same bytes; the latest first. In memory only.
  private let granted: Locked<[Grant]>?
  /// The answer that the server has rendered from this response for the hot path.
  package let rendered = Locked<(any AnyObject & Sendable)?>(nil)
  private let superseded: Locked<Int64?>
  /// Whether the head is the answer to one request only. Such a response is not given to other requests, and is not stored.
  package let isOfOneRequest: Bool

  /// The owner of a private response, and the time when it expires. The owner of a request is computed by the same rule as
  /// `owner`, and has to be the same. After `expires` (wall clock, seconds) the response is not given out.
  package struct PersonalBinding: Hashable, Sendable {
    package var owner: [UInt8]
    package var expires: Int64

    package init(owner: [UInt8], expires: Int64) { (self.owner, self.expires) = (owner, expires) }
  }

  /// An owner as in ``PersonalBinding``, and the head under which this owner gets the bytes.
  package struct Grant: Equatable, Sendable {
    package var owner: [UInt8]
    package var head: StoredHead
  }

  /// The most grants that are remembered. If there are more, the oldest is forgotten, and the next request of its owner goes to
  /// the origin again.
  package static let grantLimit = 16

  package var grants: [Grant] { granted?.withLock { $0 } ?? [] }

  /// Adds a grant, if this response is a private one.
  package func grant(_ owner: [UInt8], _ head: StoredHead) {
    granted?.withLock { grants in
      grants.removeAll { $0.owner == owner }
      grants.insert(Grant(owner: owner, head: head), at: 0)
      grants.removeLast(max(0, grants.count - Self.grantLimit))
    }
  }

  package convenience init(head: StoredHead, body: StoredBody, storedAt: Int64) {
    self.init(head: head, body: body, storedAt: storedAt, personal: nil, supersededAt: nil)
  }

  init(
    head: StoredHead, body: StoredBody, storedAt: Int64, personal: PersonalBinding?, supersededAt: Int64?,
    isOfOneRequest: Bool = false
  ) {
    self.isOfOneRequest = isOfOneRequest
    (self.head, self.body, self.storedAt, self.personal) = (head, body, storedAt, personal)
    granted = personal == nil ? nil : Locked([])
    superseded = Locked(supersededAt)
  }

  /// The id of the body.
  package var id: ObjectID { body.id }

  /// When a newer response took its place (wall clock, seconds); `nil` while it is current.
  package var supersededAt: Int64? { superseded.withLock { $0 } }

  func supersede(at time: Int64) { superseded.withLock { $0 = time } }

  /// Whether the origin's own validator is strong. For a private response, a date is never strong, because each user may get
  /// different bytes.
  var isStronglyValidated: Bool {
    personal == nil ? head.isStronglyValidated : head.validators.tag.map { !$0.isWeak } ?? false
  }

  /// Returns a response with the same body and a head that answers one request only.
  package func ofOneRequest(head: StoredHead) -> StoredResponse {
    StoredResponse(
      head: head, body: body, storedAt: storedAt, personal: personal, supersededAt: supersededAt, isOfOneRequest: true)
  }

  /// Returns a response with the same body and another head, for all requests, as after a 304.
  package func with(head: StoredHead, personal: PersonalBinding? = nil) -> StoredResponse {
    StoredResponse(
      head: head, body: body, storedAt: storedAt, personal: personal ?? self.personal, supersededAt: supersededAt)
  }
}

extension StoredHead {
  /// Whether the origin's own validator is strong (RFC 9110 §8.8.1). A date is strong only if it is at least a minute older than
  /// the response.
  var isStronglyValidated: Bool {
    if let tag = validators.tag { return !tag.isWeak }
    return validators.lastModifiedIsStrong(margin: 60)
  }
}
