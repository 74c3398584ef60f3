import PawlCache
import PawlHTTP
import Testing

@Suite("What proves that a kept body is another request's, too") struct PrivateProofTests {
  private static let tagged = ["ETag: \"x\"", "Cache-Control: private"]

  @Test(
    "only a strong tag of the origin's is asked about",
    arguments: [
      (["ETag: \"x\""], "\"x\""), (["ETag: W/\"x\""], nil), ([], nil), (["ETag: x"], nil),
      (["Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"], nil),
    ])
  func conditions(_ lines: [String], _ expected: String?) {
    let asked = PrivateProof.conditions(for: Messages.stored(lines))
    #expect(asked.map(\.0) == (expected == nil ? [] : [.ifNoneMatch]))
    #expect(asked.first.map { String(decoding: $0.1, as: UTF8.self) } == expected)
  }

  @Test(
    "a 304 proves it that names the same strong tag, and nothing else does",
    arguments: [
      (304, ["ETag: \"x\""], true), (304, [], false), (304, ["ETag: W/\"x\""], false), (304, ["ETag: \"y\""], false),
      (304, ["ETag: \"x\"", "ETag: \"x\""], false), (200, ["ETag: \"x\""], false), (206, ["ETag: \"x\""], false),
      (412, ["ETag: \"x\""], false),
    ])
  func proven(_ status: Int, _ lines: [String], _ expected: Bool) {
    let answer = Messages.response(lines, status: status)
    #expect(PrivateProof.isProven(by: answer, Messages.stored(Self.tagged)) == expected)
    #expect(!PrivateProof.isProven(by: answer, Messages.stored(["ETag: W/\"x\""])))
    #expect(!PrivateProof.isProven(by: answer, Messages.stored([])))
  }

  @Test("other lengths, types or codings are not worth a comparison")
  func worth() {
    typealias Row = (lines: [String], total: UInt64?, expected: Bool)
    let stored = Messages.stored(["Content-Type: text/html"])
    let rows: [Row] = [
      (["Content-Type: text/html"], 10, true), (["Content-Type: text/html"], nil, true),
      (["Content-Type: text/html"], 11, false), (["Content-Type: text/plain"], 10, false), ([], 10, false),
      (["Content-Type: text/html", "Content-Encoding: gzip"], 10, false),
      (["Content-Type: text/html", "Content-Encoding: identity"], 10, true),
      (
        ["Content-Type: text/html", "ETag: W/\"other\"", "Last-Modified: \(Messages.dated("x").dropFirst(3))"], 10, true
      ),
    ]
    for row in rows {
      let other = Messages.stored(row.lines)
      #expect(
        PrivateProof.mayBeEqual(stored, total: 10, other, otherTotal: row.total) == row.expected, "\(row.lines)")
      #expect(
        PrivateProof.mayBeEqual(stored, total: nil, other, otherTotal: row.total) || !row.expected || row.total == 11)
    }
    #expect(
      !PrivateProof.mayBeEqual(
        stored, total: 10, Messages.stored(["Content-Type: text/html"], status: 404), otherTotal: 10))
  }

  @Test("the asker's head is what the origin told the asker, and what describes the bytes; nothing of the other's")
  func head() {
    let stored = Messages.stored(
      [
        "ETag: \"x\"", "Cache-Control: private", "Content-Type: text/html", "X-Greeting: Dear alice",
        "Content-Disposition: attachment; filename=alice.pdf", Messages.dated("Last-Modified", -10),
        Messages.dated("Date", -5),
      ])
    let head = PrivateProof.head(
      of: stored,
      confirmedBy: Messages.response(
        ["ETag: \"x\"", "X-Greeting: Dear bob", "Set-Cookie: a=b", Messages.dated("Date", 90)], status: 304),
      for: Messages.request(["Cookie: b"]), requestTime: Messages.now, responseTime: Messages.now, asksIdentity: true)
    #expect(head.status == 200)
    #expect(head.fields.all(named: Bytes("x-greeting")) == [Bytes("Dear bob")])
    #expect(head.fields.first(.contentType) == Bytes("text/html") && head.cacheControl.isPrivate)
    #expect(!head.fields.contains(.contentDisposition) && !head.fields.contains(.setCookie))
    #expect(head.validators.tag == stored.validators.tag)
    #expect(!head.validators.lastModifiedIsStrong(margin: 60), "the date is of the answer that brought the bytes")
  }
}
