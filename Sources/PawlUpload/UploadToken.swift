package import PawlHTTP

/// The secret part of an upload's URL: 24 random octets as 32 characters of base64url. Stored nowhere.
package struct UploadToken: Hashable, Sendable {
  package let text: String
  /// Characters of every token.
  package static let count = 32
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// - Parameter octets: 24 of them, random.
  package init(random octets: [UInt8]) {
    precondition(octets.count == 24, "a token is made of 24 octets")
    var text: [UInt8] = []
    for start in stride(from: 0, to: octets.count, by: 3) {
      let word = octets[start..<start + 3].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      for shift in stride(from: UInt32(18), through: 0, by: -6) { text.append(Self.digits[Int(word >> shift & 63)]) }
    }
    self.text = String(decoding: text, as: UTF8.self)
  }

  /// As it stands in a URL; `nil` for what pawl never made.
  package init?(_ text: Bytes) {
    guard text.count == Self.count, text.allSatisfy(Self.digits.contains) else { return nil }
    self.text = text.text
  }
}
