import PawlHTTP
import RawStructuredFieldValues

/// Parses structured fields that are a single item (RFC 9651 §3.3). A field that does not parse, has another type or comes on two
/// lines counts as absent (RFC 9651 §4.2); parameters are ignored.
extension Fields {
  /// Returns a Boolean: `?0` or `?1`.
  func structuredBoolean(_ name: FieldName) -> Bool? {
    guard case .bool(let value)? = bareItem(name) else { return nil }
    return value
  }

  /// Returns an Integer of at most 15 digits that is not negative.
  func structuredInteger(_ name: FieldName) -> UInt64? {
    guard case .integer(let value)? = bareItem(name), value >= 0 else { return nil }
    return UInt64(value)
  }

  private func bareItem(_ name: FieldName) -> RFC9651BareItem? {
    guard let value = only(name) else { return nil }
    var parser = StructuredFieldValueParser(value)
    do {
      return try parser.parseItemFieldValue().rfc9651BareItem
    } catch {
      return nil
    }
  }
}
