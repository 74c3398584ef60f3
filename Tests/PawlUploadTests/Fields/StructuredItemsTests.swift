import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Structured items (RFC 9651 §3.3)") struct StructuredItemsTests {
  @Test(
    "integers count up to 15 digits; the rest is as if it were absent",
    arguments: [
      ("0", 0), ("5", 5), ("5;foo", 5), ("5;a=\"b\"", 5), (" 5 ", 5), ("999999999999999", 999_999_999_999_999),
      ("1000000000000000", nil), ("-1", nil), ("-0", 0), ("5, 5", nil), ("5.0", nil), ("+5", nil), ("0x5", nil),
      ("\"5\"", nil), ("?1", nil), ("5 5", nil), ("", nil), ("@5", nil), ("(5)", nil), ("5;", nil),
    ] as [(String, UInt64?)])
  func integers(_ value: String, _ expected: UInt64?) {
    #expect(Draft.fields("Upload-Offset: \(value)").structuredInteger(.uploadOffset) == expected)
  }

  @Test(
    "Booleans are ?0 and ?1, not words and not numbers",
    arguments: [
      ("?0", false), ("?1", true), ("?1;x", true), ("?1;x=?0", true), (" ?0 ", false), ("1", nil), ("0", nil),
      ("true", nil),
      ("false", nil), ("?2", nil), ("?", nil), ("?10", nil), ("?1, ?1", nil), ("", nil), ("\"?1\"", nil),
    ] as [(String, Bool?)])
  func booleans(_ value: String, _ expected: Bool?) {
    #expect(Draft.fields("Upload-Complete: \(value)").structuredBoolean(.uploadComplete) == expected)
  }

  @Test("two lines are none, and so is no line")
  func lines() {
    let fields = Draft.fields("Upload-Offset: 5\nUpload-Offset: 5\nUpload-Complete: ?1\nupload-complete: ?1")
    #expect(fields.structuredInteger(.uploadOffset) == nil)
    #expect(fields.structuredBoolean(.uploadComplete) == nil)
    #expect(fields.structuredInteger(.uploadLength) == nil)
  }
}
