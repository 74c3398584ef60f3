import Testing

@testable import PawlUpload

@Suite("Upload-Limit (UploadProtocols, \"Limits\")") struct UploadLimitsTests {
  @Test("is never empty")
  func empty() {
    for version in Draft.versions {
      #expect(String(decoding: UploadLimits().fieldValue(for: version), as: UTF8.self) == "min-size=0")
    }
  }

  @Test(
    "tells the lifetime as the version reads it",
    arguments: [
      (6, "max-size=50, min-size=10, max-age=60, expires=60"), (7, "max-size=50, min-size=10, max-age=60"),
      (8, "max-size=50, min-size=10, max-age=60"), (9, "max-size=50, min-size=10, max-age=60"),
      (10, "max-size=50, min-size=10, max-age=60"), (11, "max-size=50, min-size=10, max-age=60"),
    ])
  func lifetime(_ number: Int, _ expected: String) {
    let limits = UploadLimits(maxSize: 50, minSize: 10, maxAge: 60)
    #expect(String(decoding: limits.fieldValue(for: Draft.version(number)), as: UTF8.self) == expected)
  }

  @Test("holds numbers that a structured field can hold")
  func extremes() {
    let limits = UploadLimits(maxSize: .max, minSize: 999_999_999_999_999, maxAge: -5)
    #expect(
      String(decoding: limits.fieldValue(for: Draft.version(9)), as: UTF8.self)
        == "max-size=999999999999999, min-size=999999999999999, max-age=0")
  }
}
