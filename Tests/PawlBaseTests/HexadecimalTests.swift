import Testing

@testable import PawlBase

@Suite("Hexadecimal digits") struct HexadecimalTests {
  @Test("are two for each byte, in lower case where nothing else is asked for")
  func digits() {
    #expect([0x00, 0x0f, 0xa0, 0xff, 0x9b].hexadecimal == Array("000fa0ff9b".utf8))
    #expect([UInt8]().hexadecimal == [])
    var text: [UInt8] = []
    text.append(hexadecimal: 0xaf, uppercase: true)
    text.append(hexadecimal: 0x90)
    #expect(text == Array("AF90".utf8))
    #expect((0..<16).map { UInt8.hexDigit($0) } == Array("0123456789abcdef".utf8))
  }

  @Test("are read in either case, and nothing else is")
  func values() {
    #expect("0123456789abcdef".utf8.map(\.hexValue) == (0..<16).map { $0 })
    #expect("ABCDEF".utf8.map(\.hexValue) == (10..<16).map { $0 })
    #expect((UInt8.min...UInt8.max).count { $0.hexValue != nil } == 22)
  }
}
