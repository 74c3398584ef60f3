import Testing

@testable import PawlBase

@Suite("Decimal digits") struct DecimalTests {
  @Test(
    "are written without a zero before them, but for a width",
    arguments: [
      (0, 1, "0"), (0, 3, "000"), (7, 2, "07"), (10, 1, "10"), (1234, 2, "1234"), (1234, 6, "001234"),
      (.max, 1, "18446744073709551615"), (.max, 21, "018446744073709551615"),
    ] as [(UInt64, Int, String)])
  func written(_ value: UInt64, _ width: Int, _ text: String) {
    var output = [UInt8]("x".utf8)
    output.append(decimal: value, width: width)
    #expect(output == Array("x\(text)".utf8))
    if width == 1 {
      output = []
      output.append(decimal: value)
      #expect(output == Array(text.utf8))
    }
  }

  @Test(
    "are read up to a limit, and nothing else is",
    arguments: [
      ("0", .max, 0), ("007", 7, 7), ("8", 7, nil), ("65535", 65_535, 65_535), ("65536", 65_535, nil), ("0", 0, 0),
      ("18446744073709551615", .max, .max), ("18446744073709551616", .max, nil), ("18446744073709551620", .max, nil),
      ("9223372036854775807", UInt64(Int64.max), UInt64(Int64.max)), ("9223372036854775808", UInt64(Int64.max), nil),
      ("", .max, nil), ("+1", .max, nil), ("-1", .max, nil), (" 1", .max, nil), ("1 ", .max, nil), ("1a", .max, nil),
      ("/", .max, nil), (":", .max, nil), ("000000000000000000000000000000000000001", .max, 1),
    ] as [(String, UInt64, UInt64?)])
  func read(_ text: String, _ limit: UInt64, _ value: UInt64?) {
    let bytes = Array("9\(text)9".utf8)
    #expect(bytes.span.decimal(1..<bytes.count - 1, atMost: limit) == value)
  }
}
