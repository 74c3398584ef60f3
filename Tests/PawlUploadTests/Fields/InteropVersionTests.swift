import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Interop versions (UploadProtocols, \"Versions\")") struct InteropVersionTests {
  @Test(
    "are read as an integer, parameters ignored; anything else is none",
    arguments: [
      ("3", 3), ("10", 10), ("6;foo", 6), ("6;a=1;b=\"x\"", 6), ("  6 ", 6), ("2", nil), ("11", nil), ("12", nil),
      ("0", nil),
      ("-6", nil), ("6.0", nil), ("\"6\"", nil), ("?1", nil), ("6, 6", nil), ("", nil), ("six", nil),
      ("999999999999999", nil), ("9999999999999999", nil), ("06", 6),
    ] as [(String, Int?)])
  func reading(_ value: String, _ number: Int?) {
    let fields = Draft.fields("Upload-Draft-Interop-Version: \(value)")
    #expect(InteropVersion.of(fields, allowsFinal: false)?.number == number)
    #expect(InteropVersion.of(fields, allowsFinal: true)?.number == number)
  }

  @Test("on two lines are none; without a line only the final dialect is, where it is switched on")
  func lines() {
    let twice = Draft.fields("Upload-Draft-Interop-Version: 6\nUpload-Draft-Interop-Version: 6")
    #expect(InteropVersion.of(twice, allowsFinal: true) == nil)
    #expect(InteropVersion.of(Fields(), allowsFinal: false) == nil)
    #expect(InteropVersion.of(Fields(), allowsFinal: true) == .final)
  }

  @Test("are ordered, the final dialect newest")
  func order() {
    #expect(Draft.versions == Draft.versions.sorted())
    #expect(Draft.versions.filter(\.isFinal) == [.final])
  }

  /// One row a version: 2.2 where it is a matter of the version alone.
  struct Row: Sendable {
    var number: Int
    var field: FieldName = .uploadComplete
    var progress = true, limits = true, expires = false, length = true
    var omits = false, mediaType = true, stray = false
    var append = 204
    var location = false, speaker = false
    var completed = 400
    var names = true
  }

  static let rows: [Row] = [
    Row(
      number: 3, field: .uploadIncomplete, progress: false, limits: false, length: false, omits: true, mediaType: false,
      stray: true, append: 201, location: true),
    Row(
      number: 4, progress: false, limits: false, length: false, omits: true, mediaType: false, stray: true, append: 201,
      location: true),
    Row(
      number: 5, limits: false, length: false, omits: true, mediaType: false, stray: true, append: 201, location: true),
    Row(number: 6, expires: true, omits: true, stray: true, append: 201, location: true),
    Row(number: 7),
    Row(number: 8, completed: 410),
    Row(number: 9, speaker: true, names: false),
    Row(number: 10, speaker: true, names: false),
    Row(number: 11, speaker: true, names: false),
    Row(number: 12, progress: false, speaker: true, names: false),
  ]

  @Test("differ as the table says", arguments: rows)
  func table(_ row: Row) {
    let version = Draft.version(row.number)
    #expect(version.number == row.number)
    #expect(version.completenessField == row.field)
    #expect(version.otherCompletenessField == (row.number == 3 ? .uploadComplete : .uploadIncomplete))
    #expect(version.isCompletenessInverted == (row.number == 3))
    #expect(version.hasProgress == row.progress)
    #expect(version.allowsInterim == (row.number != 12))
    #expect(version.hasLimits == row.limits)
    #expect(version.limitExpires == row.expires)
    #expect(version.hasLength == row.length)
    #expect(version.readsLength == (row.number >= 5))
    #expect(version.completesAtLength == [5, 6].contains(row.number))
    #expect(version.appendMayOmitCompleteness == row.omits)
    #expect(version.needsAppendMediaType == row.mediaType)
    #expect(version.refusesStrayFields == row.stray)
    #expect(version.incompleteAppendStatus == row.append)
    #expect(version.needsLocationOnAnswer == row.location)
    #expect(version.completenessTellsWhoSpeaks == row.speaker)
    #expect(version.completedUploadStatus == row.completed)
    #expect(version.namesCompletedUpload == row.names)
    #expect(version.fieldValue == (row.number <= 10 ? Array("\(row.number)".utf8) : nil))
  }
}
