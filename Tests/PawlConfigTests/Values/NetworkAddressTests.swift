import PawlConfig
import Testing

@Suite("Addresses") struct NetworkAddressTests {
  @Test(
    "are read literally",
    arguments: [
      ("127.0.0.1", [127, 0, 0, 1]), ("255.255.255.255", [255, 255, 255, 255]), ("256.0.0.1", nil), ("1.2.3", nil),
      ("01.2.3.4", nil), ("1.2.3.4.", nil), ("::", [UInt8](repeating: 0, count: 16)),
      ("::1", [UInt8](repeating: 0, count: 15) + [1]),
      ("2001:db8::a:1", [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 1]),
      ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]), ("1:2:3:4:5:6:7", nil),
      ("1:2:3:4:5:6:7:8:9", nil), ("1::2::3", nil), (":::", nil), ("1:2:3:4::5:6:7:8", nil), ("12345::", nil),
      ("g::", nil),
      ("::ffff:1.2.3.4", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 1, 2, 3, 4]),
      ("::1.2.3.4", [UInt8](repeating: 0, count: 12) + [1, 2, 3, 4]),
      ("1:2:3:4:5:6:1.2.3.4", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4]), ("::1%eth0", nil), ("", nil),
      (":", nil),
    ] as [(String, [UInt8]?)])
  func reads(_ text: String, _ expected: [UInt8]?) { #expect(NetworkAddress(text)?.bytes == expected) }

  @Test(
    "lie in a range or not",
    arguments: [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.1.2.3", "10.1.2.3", true),
      ("10.1.2.3", "10.1.2.4", false), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "::1", false),
      ("10.0.0.0/9", "10.127.0.0", true), ("10.0.0.0/9", "10.128.0.0", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
      ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::1", "::1", true),
    ])
  func contains(_ range: String, _ address: String, _ expected: Bool) throws {
    let bytes = try #require(NetworkAddress(address)?.bytes)
    #expect(AddressRange(range)?.contains(bytes) == expected)
  }

  @Test("of Unix sockets have a word of their own, and hold no address")
  func unixSockets() throws {
    let range = try #require(AddressRange("UNIX:"))
    #expect(range.isUnixSockets)
    #expect(range.description == "unix:")
    #expect(!range.contains([127, 0, 0, 1]))
    #expect(AddressRange("127.0.0.1")?.isUnixSockets == false)
  }

  @Test(
    "of ranges are refused when malformed",
    arguments: ["", "unix", "unix:/run/x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "x"])
  func refuses(_ text: String) { #expect(AddressRange(text) == nil) }
}
