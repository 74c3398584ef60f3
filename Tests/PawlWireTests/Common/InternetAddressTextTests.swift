import Testing

@testable import PawlWire

@Suite("Literal addresses") struct InternetAddressTextTests {
  @Test(
    "of IPv6",
    arguments: [
      ("::", [UInt8](repeating: 0, count: 16)), ("::1", [UInt8](repeating: 0, count: 15) + [1]),
      ("1::", [0, 1] + [UInt8](repeating: 0, count: 14)),
      ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
      ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
      ("ABcd::1234", [0xab, 0xcd] + [UInt8](repeating: 0, count: 12) + [0x12, 0x34]),
      ("::ffff:192.0.2.1", [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 1]),
      ("1:2:3:4:5:6:192.0.2.1", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 192, 0, 2, 1]),
    ])
  func sixth(_ text: String, _ bytes: [UInt8]) {
    #expect(InternetAddressText.sixth(Array(text.utf8)[...]) == bytes)
  }

  @Test(
    "of IPv6, misformed",
    arguments: [
      "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1::", "12345::", "g::",
      "1:::2",
      "192.0.2.1", "::192.0.2.1:1", "::1.2.3", "[::1]", "fe80::1%eth0", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "::1 ",
    ])
  func badSixth(_ text: String) {
    #expect(InternetAddressText.sixth(Array(text.utf8)[...]) == nil)
  }

  @Test(
    "of IPv4",
    arguments: [
      ("192.0.2.1", [192, 0, 2, 1] as [UInt8]?), ("0.0.0.0", [0, 0, 0, 0]), ("255.255.255.255", [255, 255, 255, 255]),
      ("", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.", nil), ("1.2.3.256", nil), ("1.2.3.04", nil),
      ("1.2.3.+4", nil), ("1.2.3.4 ", nil), ("a.b.c.d", nil), ("1.2.3.0000", nil),
    ])
  func fourth(_ text: String, _ bytes: [UInt8]?) {
    #expect(InternetAddressText.fourth(Array(text.utf8)[...]) == bytes)
  }
}
