import PawlHTTP
import Testing

@Suite("Byte sets") struct ByteSetTests {
  @Test("token characters are those of RFC 9110 §5.6.2") func token() {
    let delimiters = Set("\"(),/:;<=>?@[\\]{}".utf8)
    for byte in UInt8.min...UInt8.max {
      #expect(ByteSet.token.contains(byte) == (byte > 0x20 && byte < 0x7f && !delimiters.contains(byte)))
    }
  }

  @Test("of any bytes, those that are ASCII") func ofBytes() {
    let set = ByteSet([0x00, 0x2e, 0x7f, 0x80, 0xff])
    #expect((UInt8.min...UInt8.max).filter(set.contains) == [0x00, 0x2e, 0x7f])
    #expect(!(UInt8.min...UInt8.max).contains { ByteSet([UInt8]()).contains($0) })
  }

  @Test("classes") func classes() {
    let all = UInt8.min...UInt8.max
    #expect(all.filter(\.isDigit) == Array("0123456789".utf8))
    #expect(all.filter(\.isLetter).count == 52)
    #expect(all.filter(\.isHexDigit) == Array("0123456789ABCDEFabcdef".utf8))
    #expect(all.filter(\.isBlank) == [0x09, 0x20])
  }
}
