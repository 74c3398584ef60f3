import PawlHTTP
import Testing

@testable import PawlBase

@Suite("Base64 (RFC 4648)") struct Base64Tests {
  @Test(
    "the vectors of section 10",
    arguments: [
      ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
      ("Zm9vYmFy", "foobar"),
    ])
  func vectors(_ text: String, _ expected: String) { #expect(Base64.decode(Bytes(text)) == Array(expected.utf8)) }

  @Test("every octet comes back")
  func all() {
    #expect(Base64.decode(Bytes("+/+/")) == [0xfb, 0xff, 0xbf])
    #expect(Base64.decode(Bytes("AAAA")) == [0, 0, 0])
  }

  @Test(
    "what no encoder writes is refused",
    arguments: [
      "Z", "Zg", "Zg=", "=", "==", "====", "Z===", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "-_-_", "Zg==Zg==", "Zé=",
    ])
  func refused(_ text: String) { #expect(Base64.decode(Bytes(text)) == nil) }
}
