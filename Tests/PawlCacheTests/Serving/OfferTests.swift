import PawlCache
import PawlHTTP
import Testing

@Suite("What others have is offered to the origin") struct OfferTests {
  private static func stored(
    _ lines: [String], cookie: String? = "sid=1", status: Int = 200, storability: Storability = .sharedPerCookie
  ) -> StoredHead {
    Messages.stored(
      lines, status: status, request: Messages.request(cookie.map { ["Cookie: \($0)"] } ?? []),
      storability: storability)
  }

  @Test(
    "is offered: a success with a strong tag that is for certain cookies",
    arguments: [
      (["ETag: \"x\""], [], true), (["ETag: W/\"x\""], [], false), ([], [], false),
      (["Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"], [], false), (["ETag: \"x\""], ["Cookie: sid=2"], true),
      (["ETag: \"x\"", "Cache-Control: public"], [], false), (["ETag: \"x\"", "Cache-Control: max-age=9"], [], false),
      (["ETag: \"x\""], ["Authorization: a"], false), (["ETag: \"x\""], ["Client-Cert: a"], false),
      (["ETag: \"x\"", "Cache-Control: must-revalidate"], ["Authorization: a"], true),
      (["ETag: \"x\"", "Vary: Cookie"], ["Cookie: sid=2"], true), (["ETag: \"x\"", "Vary: Cookie"], [], true),
      (["ETag: \"x\"", "Vary: Accept-Language"], ["Accept-Language: de"], false),
      (["ETag: \"x\"", "Vary: Accept-Language, Cookie"], ["Cookie: b"], true),
      (["ETag: \"x\"", "Vary: X-A, X-Cookie"], ["X-Cookie: b"], false), (["ETag: \"x\"", "Vary: *"], [], false),
    ])
  func offered(_ lines: [String], _ request: [String], _ expected: Bool) {
    let asked = Messages.request(request)
    let head = Self.stored(lines)
    #expect(head.mayBeOffered(to: asked, asksIdentity: true) { asked.fields } == expected)
    #expect(!head.isSelected(by: asked, asksIdentity: true) || head.isForEverybody)
  }

  @Test("what sets a cookie is selected by nobody, also by who had it, and offered to all")
  func onceConfirmed() {
    let head = Self.stored(["ETag: \"x\"", "Cache-Control: max-age=60"], storability: .sharedOnceConfirmed)
    #expect(head.isOnceConfirmed && !head.isForEverybody && head.keyCookies.isEmpty)
    for lines in [["Cookie: sid=1"], [], ["Cookie: \u{1}"]] {
      let asked = Messages.request(lines)
      #expect(!head.isSelected(by: asked, asksIdentity: true))
      #expect(head.mayBeOffered(to: asked, asksIdentity: true) { asked.fields })
    }
    #expect(StoredHead(serialized: head.serialize()) == head)
    #expect(!head.answersAlike(asksIdentity: true))
  }

  @Test("errors are not offered, for they have no representation")
  func errors() {
    let head = Self.stored(["ETag: \"x\""], status: 404)
    #expect(!head.mayBeOffered(to: Messages.request(), asksIdentity: true) { Messages.request().fields })
  }

  @Test(
    "the tags stand behind those of the client, each once; dates are not sent beside tags",
    arguments: [
      ([], "\"x\", \"y\""), ([("If-None-Match", "\"c\"")], "\"c\", \"x\", \"y\""),
      ([("If-Modified-Since", "then")], "\"x\", \"y\""),
    ] as [([(String, String)], String)])
  func conditions(_ own: [(String, String)], _ expected: String) {
    let heads = ["\"x\"", "\"y\"", "\"x\""].map { Self.stored(["ETag: \($0)"]) }
    let fields = own.map { (FieldName(Array($0.0.utf8)), Array($0.1.utf8)) }
    let conditions = Offer.conditions(heads, beside: fields + [(.range, Array("bytes=0-9".utf8))])
    #expect(conditions.map(\.0) == [.range, .ifNoneMatch])
    #expect(String(decoding: conditions[1].1, as: UTF8.self) == expected)
  }

  @Test(
    "a 304 names one of them by its strong tag",
    arguments: [
      (304, ["ETag: \"x\""], 0), (304, ["ETag: \"y\""], 1), (304, ["ETag: \"z\""], nil), (304, [], nil),
      (304, ["ETag: W/\"x\""], nil), (200, ["ETag: \"x\""], nil),
    ] as [(Int, [String], Int?)])
  func named(_ status: Int, _ lines: [String], _ expected: Int?) {
    let heads = ["\"x\"", "\"y\""].map { Self.stored(["ETag: \($0)"]) }
    #expect(Offer.index(namedBy: Messages.response(lines, status: status), of: heads) == expected)
  }

  @Test("what describes the bytes is of the stored answer, all else of the 304, and no field of another's answer")
  func head() {
    let stored = Self.stored([
      "ETag: \"x\"", "Last-Modified: \(Messages.dated("a", -99).dropFirst(3))", "Content-Type: text/a",
      "Content-Language: de", "Content-Disposition: attachment", "Repr-Digest: a", "X-User: one", "Vary: Accept",
      "Cache-Control: must-revalidate", "Link: one", "Set-Cookie: one",
    ])
    let answer = Messages.response(
      [
        Messages.dated("Date"), "ETag: \"x\"", "Content-Type: text/b", "Content-Location: /b", "X-User: two",
        "Cache-Control: no-cache", "Set-Cookie: two", "Last-Modified: b",
      ], status: 304)
    let asked = Messages.request(["Cookie: sid=2"])
    let head = Offer.head(
      of: stored, confirmedBy: answer, for: asked, asSent: asked.fields, requestTime: Messages.now,
      responseTime: Messages.now, asksIdentity: true)
    let lines = head.fields.lines.map {
      "\(String(decoding: head.fields.name($0), as: UTF8.self)): \(String(decoding: head.fields.value($0), as: UTF8.self))"
    }
    #expect(
      Set(lines)
        == [
          Messages.dated("Date"), "X-User: two", "Cache-Control: no-cache", "ETag: \"x\"",
          Messages.dated("Last-Modified", -99), "Content-Type: text/a", "Content-Language: de",
          "Content-Disposition: attachment", "Repr-Digest: a",
        ])
    #expect(head.status == 200 && head.isSelected(by: asked, asksIdentity: true))
  }
}
