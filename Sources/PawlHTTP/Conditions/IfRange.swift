/// The `If-Range` field (RFC 9110 §13.1.5). It counts only beside a `Range` field of a GET.
package enum IfRange: Hashable, Sendable {
  case tag(EntityTag)
  /// Seconds since 1970.
  case date(Int64)
  /// Neither a tag nor a date, several tags, or several lines: the condition is false, the answer the whole.
  case unusable

  /// `nil` when absent.
  package init?(_ fields: Fields) {
    guard fields.contains(.ifRange) else { return nil }
    guard let value = fields.only(.ifRange) else {
      self = .unusable
      return
    }
    self.init(value.trimmed)
  }

  /// From the one field value. A quote among the first three bytes makes it a tag.
  package init(_ value: Bytes) {
    if value.prefix(3).contains(0x22) {
      self = EntityTag(value).map(IfRange.tag) ?? .unusable
    } else {
      self = HTTPDate.parse(value).map(IfRange.date) ?? .unusable
    }
  }

  /// Whether the range may be applied to the representation with these validators. Tags compare strongly; a date
  /// must be exactly the representation's strong `Last-Modified`.
  /// - Parameter isMatch: whether a strong tag names this representation (an alias does).
  package func holds(for validators: Validators, isMatch: (EntityTag) -> Bool) -> Bool {
    switch self {
    case .tag(let tag): !tag.isWeak && isMatch(tag)
    case .date(let date): validators.lastModified == date && validators.lastModifiedIsStrong(margin: 1)
    case .unusable: false
    }
  }

  /// As ``holds(for:isMatch:)``, the representation's own tag being its only one.
  package func holds(for validators: Validators) -> Bool {
    holds(for: validators) { tag in validators.tag?.matchesStrongly(tag) ?? false }
  }
}
