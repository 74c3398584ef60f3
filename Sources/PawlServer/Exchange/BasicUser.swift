import PawlBase
import PawlHTTP

/// The user of Basic credentials (RFC 7617 §2), as nginx finds it for `$remote_user`.
enum BasicUser {
  /// Returns the decoded user name, up to the first colon.
  /// - Parameter credentials: the value of `Authorization`.
  /// - Returns: `nil` for another scheme, for a value that cannot be decoded, and for an empty name.
  static func name(_ credentials: Bytes) -> Bytes? {
    guard credentials.count >= scheme.utf8CodeUnitCount,
      credentials.prefix(scheme.utf8CodeUnitCount).equalsIgnoringCase(scheme)
    else { return nil }
    var encoded = Array(credentials.dropFirst(scheme.utf8CodeUnitCount).drop { $0 == 0x20 }.prefix { $0 != 0x3d })
    // Padding is optional for nginx.
    while encoded.count % 4 != 0 { encoded.append(0x3d) }
    guard let decoded = Base64.decode(encoded[...]), let colon = decoded.firstIndex(of: 0x3a), colon > 0 else {
      return nil
    }
    return decoded[..<colon]
  }

  private static var scheme: StaticString { "Basic " }
}
