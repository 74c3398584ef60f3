import PawlHTTP
import Testing

@Suite("Validators (RFC 9110 §8.8)") struct ValidatorsTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test("are read from a response") func reads() {
    let validators = Validators(
      fields(("ETag", "W/\"a\""), ("Last-Modified", "Sun, 06 Nov 1994 08:49:36 GMT"), ("Date", Self.date)),
      receivedAt: 7)
    #expect(validators.tag == EntityTag(Bytes("W/\"a\"")))
    #expect(validators.lastModified == 784_111_776)
    #expect(validators.date == 784_111_777)
    #expect(validators.receivedAt == 7)
  }

  @Test(
    "are absent when malformed or given twice",
    arguments: [
      fields(), fields(("ETag", "abc"), ("Last-Modified", "yesterday"), ("Date", "0")),
      fields(
        ("ETag", "\"a\""), ("ETag", "\"b\""), ("Last-Modified", date), ("Last-Modified", date), ("Date", date),
        ("Date", date)),
    ])
  func absent(_ fields: Fields) {
    #expect(Validators(fields, receivedAt: 7) == Validators(receivedAt: 7))
  }

  @Test(
    "Last-Modified is strong when Date is late enough",
    arguments: [
      (100, 100, 1, false), (100, 101, 1, true), (100, 99, 1, false), (100, 159, 60, false), (100, 160, 60, true),
      (100, nil, 1, false), (nil, 100, 1, false), (.min, .max, 60, false),
    ] as [(Int64?, Int64?, Int64, Bool)])
  func strength(_ modified: Int64?, _ date: Int64?, _ margin: Int64, _ isStrong: Bool) {
    let validators = Validators(lastModified: modified, date: date, receivedAt: 1_000_000)
    #expect(validators.lastModifiedIsStrong(margin: margin) == isStrong)
  }
}
