import PawlBase
import PawlHTTP
import Testing

@Suite("Bytes") struct BytesTests {
  @Test("only spaces and tabs are trimmed") func trims() {
    #expect(Bytes(within: " \t a b\t ").trimmed.text == "a b")
    #expect(Bytes(within: " \t").trimmed.isEmpty)
    #expect([0x85, 0x61, 0xa0][...].trimmed == [0x85, 0x61, 0xa0])
    #expect(Bytes("\u{b}a").trimmed.count == 2)
  }

  @Test("compares with literals") func compares() {
    #expect(Bytes(within: "Close").equalsIgnoringCase("cLOSE"))
    #expect(!Bytes(within: "Close").equalsIgnoringCase("clos"))
    #expect(!Bytes("[").equalsIgnoringCase("{"))
    #expect(Bytes(within: "Close").equalsIgnoringCase(Bytes("close")))
    #expect(Bytes(within: "Close").equals("Close"))
    #expect(!Bytes(within: "Close").equals("close"))
    #expect(Bytes(within: "Close").hasPrefix("Clo"))
    #expect(!Bytes(within: "Cl").hasPrefix("Clo"))
  }

  @Test(
    "strict decimals are digits only",
    arguments: [
      ("0", 0), ("005", 5), ("18446744073709551615", .max), ("18446744073709551616", nil),
      ("99999999999999999999", nil), ("", nil),
      ("+5", nil), ("-1", nil), ("0x5", nil), ("5 5", nil), ("5a", nil), (" 5", nil), ("\u{665}", nil), ("1e1", nil),
    ] as [(String, UInt64?)])
  func decimals(_ text: String, _ value: UInt64?) { #expect(Bytes(within: text).strictDecimal == value) }

  @Test("writes decimals", arguments: [0, 9, 10, 4096, UInt64.max])
  func writes(_ value: UInt64) {
    var output: [UInt8] = []
    output.append(decimal: value)
    #expect(output.text == "\(value)")
  }
}
