import PawlHTTP
import Testing

@testable import PawlWire

@Suite("Hosts on the wire (RFC 9110 §7.2)") struct HostSyntaxTests {
  @Test(
    "agrees with the meaning of hosts",
    arguments: [
      "a", "A.B", "a:80", "a:", "a:0", "a:65535", "a:65536", "a:000080", "a:8 ", ":80", "", ".", "..", "a.", "-", "_x",
      "~",
      "a%41", "a!b", "a,b", "u@a", "a/b", "a?b", "[::1]", "[::1]:80", "[::1]:", "[::1", "[]", "[::FFFF:1.2.3.4]:1",
      "[::1]x", "[1:2]", "[v1.a]", "[fe80::1%25en0]", "1.2.3.4:9", "a:b", "a:1:2", String(repeating: "a", count: 255),
      String(repeating: "a", count: 256), String(repeating: "A", count: 255) + ":80", "\u{e9}", "a\u{0}", "a b",
    ])
  func agrees(_ text: String) {
    let bytes = latin(text)
    let host = HostSyntax.parse(bytes.span, 0..<bytes.count)
    let lowered = host.map { bytes[$0.range].map(\.lowercasedASCII) }
    #expect(lowered == Authority.parseHost(bytes[...]).map(Array.init))
    if let host { #expect(host.isLowercase == bytes[host.range].elementsEqual(lowered ?? [])) }
  }
}
