/// The validators of a representation, which distinguish its states (RFC 9110 §8.8).
package struct Validators: Hashable, Sendable {
  /// The entity tag; `nil` when absent, on several lines or malformed.
  package var tag: EntityTag?
  /// Seconds since 1970.
  package var lastModified: Int64?
  /// The sender's `Date`, seconds since 1970; `nil` when absent or malformed.
  package var date: Int64?
  /// The time of receipt by pawl's clock, seconds since 1970.
  package var receivedAt: Int64

  package init(tag: EntityTag? = nil, lastModified: Int64? = nil, date: Int64? = nil, receivedAt: Int64 = 0) {
    (self.tag, self.lastModified, self.date, self.receivedAt) = (tag, lastModified, date, receivedAt)
  }

  /// The validators of a response with these fields, received at that second since 1970.
  package init(_ fields: Fields, receivedAt: Int64) {
    tag = fields.only(.etag).flatMap(EntityTag.init)
    lastModified = fields.only(.lastModified).flatMap { HTTPDate.parse($0, now: receivedAt) }
    date = fields.only(.date).flatMap { HTTPDate.parse($0, now: receivedAt) }
    self.receivedAt = receivedAt
  }

  /// Whether `Last-Modified` is a strong validator: older than the sender's own `Date` by at least `margin` seconds (RFC 9110
  /// §8.8.2.2). `If-Range` needs a margin of 1, the resumption of a transfer 60. Without `Date` the validator is never strong,
  /// since pawl's clock may differ from the origin's.
  package func lastModifiedIsStrong(margin: Int64) -> Bool {
    guard let lastModified, let date else { return false }
    let (age, overflow) = date.subtractingReportingOverflow(lastModified)
    return !overflow && age >= margin
  }
}
