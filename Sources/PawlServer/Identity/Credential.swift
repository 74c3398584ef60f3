import PawlBase
import PawlHTTP

/// The part of an `Authorization` value that stays the same for one user: `iss` and `sub` of a bearer JWT, since tokens are
/// refreshed; otherwise the complete value.
enum Credential {
  static func identity(_ value: Bytes) -> [UInt8] {
    let value = value.trimmed
    guard let space = value.firstIndex(of: 0x20), value[..<space].equalsIgnoringCase("Bearer") else {
      return Array(value)
    }
    let token = value[(space + 1)...].trimmed
    let parts = token.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Base64.decodeFromURL(parts[1]), let subject = string("sub", in: claims) else {
      return Array(value)
    }
    return Array("jwt".utf8) + [0] + (string("iss", in: claims) ?? []) + [0] + subject
  }

  /// Returns the bytes of a top-level string member of a JSON object, with escapes unchanged. `nil`: the text is not an object,
  /// or the member is missing, is not a string, or appears twice.
  static func string(_ name: String, in json: [UInt8]) -> [UInt8]? {
    var scanner = JSONScanner(json)
    return scanner.topLevelString(Array(name.utf8))
  }
}
