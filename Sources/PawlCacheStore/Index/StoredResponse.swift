package import PawlBase
package import PawlCache
package import PawlDisk
import PawlLoop

/// One response as it can be given to clients: a head and the body it came with. Immutable but for two slots; a 304
/// makes a new one with the same body.
package final class StoredResponse: Sendable {
  package let head: StoredHead
  package let body: StoredBody
  /// Wall clock, seconds since 1970.
  package let storedAt: Int64
  /// For whom alone, when it was kept by `resume-private`.
  package let personal: PersonalBinding?
  /// To whom else the origin has said that these bytes are theirs, too; the latest first. In memory only.
  private let granted: Locked<[Grant]>?
  /// What the server made of it for its shortest way.
  package let rendered = Locked<(any AnyObject & Sendable)?>(nil)
  private let superseded: Locked<Int64?>
  /// Its head is what one request alone was told: that is nobody else's, and not what is stored.
  package let isOfOneRequest: Bool

  /// The owner is told by the same rule that made `owner`; after `expires` (wall clock, seconds) it is not given out.
  package struct PersonalBinding: Hashable, Sendable {
    package var owner: [UInt8]
    package var expires: Int64

    package init(owner: [UInt8], expires: Int64) { (self.owner, self.expires) = (owner, expires) }
  }

  /// An owner as in ``PersonalBinding``, and the head under which that one gets the bytes.
  package struct Grant: Equatable, Sendable {
    package var owner: [UInt8]
    package var head: StoredHead
  }

  /// How many are remembered; of more, the oldest have to ask again.
  package static let grantLimit = 16

  package var grants: [Grant] { granted?.withLock { $0 } ?? [] }

  /// Remembers one more, where this one was kept for somebody.
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

  /// That of the body.
  package var id: ObjectID { body.id }

  /// When a newer response took its place (wall clock, seconds); `nil` while it is current.
  package var supersededAt: Int64? { superseded.withLock { $0 } }

  func supersede(at time: Int64) { superseded.withLock { $0 = time } }

  /// Whether the origin's own validator names the bytes beyond doubt; not a date of what each user may get otherwise.
  var isStronglyValidated: Bool {
    personal == nil ? head.isStronglyValidated : head.validators.tag.map { !$0.isWeak } ?? false
  }

  /// The same bytes under the head that one request alone is answered with.
  package func ofOneRequest(head: StoredHead) -> StoredResponse {
    StoredResponse(
      head: head, body: body, storedAt: storedAt, personal: personal, supersededAt: supersededAt, isOfOneRequest: true)
  }

  /// The same bytes under another head, as of a 304 for all.
  package func with(head: StoredHead, personal: PersonalBinding? = nil) -> StoredResponse {
    StoredResponse(
      head: head, body: body, storedAt: storedAt, personal: personal ?? self.personal, supersededAt: supersededAt)
  }
}

extension StoredHead {
  /// Whether the origin's own validator names the bytes beyond doubt (RFC 9110 §8.8.1; the date only when it is at least
  /// a minute older than the answer).
  var isStronglyValidated: Bool {
    if let tag = validators.tag { return !tag.isWeak }
    return validators.lastModifiedIsStrong(margin: 60)
  }
}
