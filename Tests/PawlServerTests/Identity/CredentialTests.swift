import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Who a credential stands for") struct CredentialTests {
  /// base64url without padding.
  private static func encoded(_ text: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var output: [UInt8] = []
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for byte in text.utf8 {
      (bits, count) = (bits << 8 | UInt32(byte), count + 8)
      while count >= 6 {
        count -= 6
        output.append(digits[Int(bits >> count & 63)])
      }
    }
    if count > 0 { output.append(digits[Int(bits << (6 - count) & 63)]) }
    return String(decoding: output, as: UTF8.self)
  }

  private static func bearer(_ claims: String) -> String { "Bearer \(encoded("{}")).\(encoded(claims)).c2ln" }
  private static func identity(_ value: String) -> String {
    String(decoding: Credential.identity(Bytes(value)), as: UTF8.self)
  }

  @Test(
    "of a JWT the issuer and the subject, since tokens are refreshed",
    arguments: [
      (#"{"iss":"i","sub":"s","exp":1}"#, "i", "s"), (#"{"sub":"s"}"#, "", "s"),
      (#" { "a" : { "sub" : "x" } , "sub" : "s" , "iss" : "i" , "b" : [ "}" , 1 ] } "#, "i", "s"),
      (#"{"exp":12,"ok":true,"n":null,"sub":"a\"b"}"#, "", #"a\"b"#),
    ])
  func tokens(_ claims: String, _ issuer: String, _ subject: String) {
    let expected = "jwt\u{0}\(issuer)\u{0}\(subject)"
    #expect(Self.identity(Self.bearer(claims)) == expected)
    #expect(Self.identity("  bearer   \(Self.bearer(claims).dropFirst(7)) ") == expected)
  }

  @Test(
    "of anything else the value as it is",
    arguments: [
      "Basic dTpw", "Bearer opaque", "Bearer a.b", "Bearer a.b.c.d", "Bearer", "Bearer a.!!.c", "",
      bearer(#"{"iss":"i"}"#), bearer(#"{"sub":1}"#), bearer(#"{"sub":"a","sub":"b"}"#), bearer("[]"), bearer(""),
      bearer(#"{"sub":"s""#), bearer(#"{"sub"}"#), bearer(#"{"sub":"#), bearer(#"{"a":{"sub":"s"}"#),
      bearer(#"{"a":{"sub":"s"}}"#),
    ])
  func others(_ value: String) { #expect(Self.identity(value) == value) }

  @Test(
    "claims that break off anywhere are no claims, and nothing worse",
    arguments: [#"{"iss":"i","sub":"s\"","a":[{"b":"\\"}],"n":-1}"#, #"{"\"#, #"{"a":"\"#, #"{"a":["\"#])
  func truncated(_ claims: String) {
    for length in 0..<claims.count {
      let value = Self.bearer(String(claims.prefix(length)))
      let isRead = Self.identity(value).hasPrefix("jwt")
      #expect(!isRead, "\(claims.prefix(length))")
    }
    _ = Self.identity(Self.bearer(claims))
  }
}
