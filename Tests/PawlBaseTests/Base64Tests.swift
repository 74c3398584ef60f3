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

  @Test("every byte comes back")
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

  @Test(
    "for URLs it is read without padding",
    arguments: [
      ("", []), ("QQ", [0x41]), ("QUI", [0x41, 0x42]), ("-_8", [0xfb, 0xff]), ("QQ==", nil), ("+A", nil),
    ] as [(String, [UInt8]?)])
  func fromURL(_ text: String, _ expected: [UInt8]?) { #expect(Base64.decodeFromURL(Bytes(text)) == expected) }

  @Test("what is written is read again, in both forms, and is what others write")
  func written() {
    let bytes = (0..<256).map { UInt8($0) }
    for count in 0...64 {
      let some = bytes[(256 - count)...]
      #expect(Base64.decode(Base64.encode(some)[...]) == Array(some))
      #expect(Base64.decodeFromURL(Base64.encodeForURL(some)[...]) == Array(some))
    }
    #expect(
      Base64.encode([0xfb, 0xff]) == Array("+/8=".utf8) && Base64.encodeForURL([0xfb, 0xff]) == Array("-_8".utf8))
    #expect(bytes.filter(Base64.isForURL).count == 64 && !Base64.isForURL(0x3d))
  }
}
