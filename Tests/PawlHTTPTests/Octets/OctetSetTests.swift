import PawlHTTP
import Testing

@Suite("Octet sets") struct OctetSetTests {
  @Test("token characters are those of RFC 9110 §5.6.2") func token() {
    let delimiters = Set("\"(),/:;<=>?@[\\]{}".utf8)
    for octet in UInt8.min...UInt8.max {
      #expect(OctetSet.token.contains(octet) == (octet > 0x20 && octet < 0x7f && !delimiters.contains(octet)))
    }
  }

  @Test("of any octets, those that are ASCII") func ofOctets() {
    let set = OctetSet([0x00, 0x2e, 0x7f, 0x80, 0xff])
    #expect((UInt8.min...UInt8.max).filter(set.contains) == [0x00, 0x2e, 0x7f])
    #expect(!(UInt8.min...UInt8.max).contains { OctetSet([UInt8]()).contains($0) })
  }

  @Test("classes") func classes() {
    let all = UInt8.min...UInt8.max
    #expect(all.filter(\.isDigit) == Array("0123456789".utf8))
    #expect(all.filter(\.isLetter).count == 52)
    #expect(all.filter(\.isHexDigit) == Array("0123456789ABCDEFabcdef".utf8))
    #expect(all.filter(\.isBlank) == [0x09, 0x20])
  }
}
