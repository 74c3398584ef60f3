import RawStructuredFieldValues

/// Cache-control fields for one kind of cache (RFC 9213). A valid field of this kind replaces `Cache-Control` and `Expires`.
package enum TargetedCacheControl {
  /// The directives of all `CDN-Cache-Control` lines. `nil` when `Cache-Control` applies: there is no such line, or the lines are
  /// empty, are not a structured dictionary, or have a directive whose value has the wrong type.
  package static func parse(cdn lines: [Bytes]) -> CacheControl? {
    guard !lines.isEmpty else { return nil }
    var parser = StructuredFieldValueParser(Array(lines.joined(separator: [0x2c, 0x20])))
    do {
      let members = try parser.parseDictionaryFieldValue()
      var directives = CacheControl()
      for (name, value) in members {
        guard directives.apply(name, DirectiveValue(value)) else { return nil }
      }
      return members.isEmpty ? nil : directives
    } catch {
      return nil  // RFC 9213 §2.1: a field that does not parse is ignored.
    }
  }
}

/// The kinds of values that directives may have.
private enum DirectiveValue {
  case flag(Bool)
  case seconds(Int64)
  case other

  init(_ member: ItemOrInnerList) {
    switch member {
    case .item(let item):
      switch item.rfc9651BareItem {
      case .bool(let value): self = .flag(value)
      case .integer(let value): self = .seconds(min(max(value, 0), CacheControl.longest))
      case .string, .decimal, .token, .undecodedByteSequence, .date, .displayString: self = .other
      }
    case .innerList: self = .other
    }
  }
}

extension CacheControl {
  /// Applies one directive; `false` when a known one has a value of the wrong type.
  fileprivate mutating func apply(_ name: String, _ value: DirectiveValue) -> Bool {
    switch name {
    case "max-age": set(\.maxAge, value)
    case "s-maxage": set(\.sMaxAge, value)
    case "stale-while-revalidate": set(\.staleWhileRevalidate, value)
    case "stale-if-error": set(\.staleIfError, value)
    case "no-store": set(\.noStore, value)
    case "no-cache": setQualified(\.noCache, value)
    case "private": setQualified(\.isPrivate, value)
    case "public": set(\.isPublic, value)
    case "must-revalidate": set(\.mustRevalidate, value)
    case "proxy-revalidate": set(\.proxyRevalidate, value)
    case "must-understand": set(\.mustUnderstand, value)
    case "no-transform": set(\.noTransform, value)
    case "immutable": set(\.immutable, value)
    default: true
    }
  }

  private mutating func set(_ directive: WritableKeyPath<CacheControl, Int64?>, _ value: DirectiveValue) -> Bool {
    guard case .seconds(let seconds) = value else { return false }
    self[keyPath: directive] = seconds
    return true
  }

  private mutating func set(_ directive: WritableKeyPath<CacheControl, Bool>, _ value: DirectiveValue) -> Bool {
    guard case .flag(let isSet) = value else { return false }
    self[keyPath: directive] = isSet
    return true
  }

  /// Sets a directive that may have field names as its argument. With an argument the directive counts as if it had none.
  private mutating func setQualified(
    _ directive: WritableKeyPath<CacheControl, Bool>, _ value: DirectiveValue
  ) -> Bool {
    switch value {
    case .flag(let isSet): self[keyPath: directive] = isSet
    case .other: self[keyPath: directive] = true
    case .seconds: return false
    }
    return true
  }
}
