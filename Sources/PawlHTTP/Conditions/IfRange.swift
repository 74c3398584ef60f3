/// The `If-Range` field (RFC 9110 §13.1.5). It applies only with a `Range` field in a GET.
package enum IfRange: Hashable, Sendable {
  case tag(EntityTag)
  /// Seconds since 1970.
  case date(Int64)
  /// The field is neither a tag nor a date, or has several tags or lines. The condition is false, and the complete representation
  /// is sent.
  case unusable

  /// Reads the field; `nil` when it is absent.
  package init?(_ fields: Fields) {
    guard fields.contains(.ifRange) else { return nil }
    guard let value = fields.only(.ifRange) else {
      self = .unusable
      return
    }
    self.init(value.trimmed)
  }

  /// Parses the value of the one line. It is a tag if a quote is among its first three bytes.
  package init(_ value: Bytes) {
    if value.prefix(3).contains(0x22) {
      self = EntityTag(value).map(IfRange.tag) ?? .unusable
    } else {
      self = HTTPDate.parse(value).map(IfRange.date) ?? .unusable
    }
  }

  /// Whether the condition is true for the representation with these validators, so that the range applies. Tags are compared
  /// strongly; a date has to be exactly the strong `Last-Modified` of the representation.
  /// - Parameter isMatch: whether a strong tag names this representation, as its own tag or an alias.
  package func holds(for validators: Validators, isMatch: (EntityTag) -> Bool) -> Bool {
    switch self {
    case .tag(let tag): !tag.isWeak && isMatch(tag)
    case .date(let date): validators.lastModified == date && validators.lastModifiedIsStrong(margin: 1)
    case .unusable: false
    }
  }

  /// Like ``holds(for:isMatch:)``, for a representation without aliases.
  package func holds(for validators: Validators) -> Bool {
    holds(for: validators) { tag in validators.tag?.matchesStrongly(tag) ?? false }
  }
}
