import PawlBase
import PawlHTTP

/// What of an `Authorization` value stays the same while one user goes on: of a bearer JWT its `iss` and `sub`, since
/// tokens are refreshed; of anything else the value.
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

  /// The bytes of a top-level string member of a JSON object, escapes as they stand. `nil` when the text is no
  /// object, or the member is missing, no string, or there twice.
  static func string(_ name: String, in json: [UInt8]) -> [UInt8]? {
    var scanner = JSONScanner(json)
    return scanner.topLevelString(Array(name.utf8))
  }
}
