import PawlHTTP
import Testing

@testable import PawlServer

@Suite("A request as it goes on") struct IncomingRequestChangesTests {
  private static let part: [(FieldName, String)] = [(.range, "bytes=9-")]

  @Test("If-Match of a range is pawl's to judge, as If-Range is; the origin's own tags elsewhere are the origin's")
  func takingMatch() throws {
    let bench = try ServerBench()
    let rows: [(method: Method, lines: [(FieldName, String)], match: Bool, ifRange: String?, ifMatch: String?)] = [
      (.get, Self.part + [(.ifMatch, "\"a\"")], true, "\"a\"", nil), (.get, [(.ifMatch, "\"a\"")], false, nil, "\"a\""),
      (.get, [(.ifMatch, "\"pawl-a\"")], true, nil, nil), (.head, [(.ifMatch, "\"pawl-a\"")], true, nil, nil),
      (.get, Self.part + [(.ifMatch, "*")], false, nil, "*"),
      (.get, Self.part + [(.ifMatch, "W/\"a\"")], false, nil, "W/\"a\""),
      (.get, Self.part + [(.ifMatch, "\"a\", \"b\"")], false, nil, "\"a\", \"b\""),
      (.get, Self.part + [(.ifMatch, "\"a\", \"pawl-b\"")], true, nil, nil),
      (.get, Self.part + [(.ifMatch, "\"a\""), (.ifRange, "\"b\"")], false, "\"b\"", "\"a\""),
      (.get, Self.part + [(.ifMatch, "\"a\""), (.ifUnmodifiedSince, "x")], false, nil, "\"a\""),
      (.get, Self.part, false, nil, nil),
    ]
    for row in rows {
      let request = bench.request(row.method, "/f", row.lines).takingMatch()
      #expect(request.hasMatch == row.match, "\(row)")
      #expect(request.head.fields.only(.ifRange).map { $0.text } == row.ifRange, "\(row)")
      #expect(request.head.fields.only(.ifMatch).map { $0.text } == row.ifMatch, "\(row)")
    }
  }

  @Test("what is given back is what was taken; a tag of pawl's own cannot be")
  func givingBack() throws {
    let bench = try ServerBench()
    let request = bench.request(.get, "/f", Self.part + [(.ifMatch, "\"a\"")])
    let back = try #require(request.takingMatch().givingMatchBack())
    #expect(!back.hasMatch && back.head.fields.only(.ifMatch)?.text == "\"a\"" && !back.head.fields.contains(.ifRange))
    #expect(bench.request(.get, "/f", [(.ifMatch, "\"pawl-a\"")]).takingMatch().givingMatchBack() == nil)
    #expect(request.givingMatchBack() === request)
  }

  @Test("cookies that do not count are gone, and owner still finds them; what is known of the request stays")
  func withoutCookies() throws {
    let bench = try ServerBench { $0.site = "key-cookies = lang" }
    let request = bench.request(.get, "/f", [(.cookie, "sid=1; lang=de")])
    request.record.bytesSent = 7
    let counted = request.withoutCookies()
    #expect(counted.head.fields.all(.cookie).map { $0.text } == ["lang=de"])
    #expect(counted.cookies.map { $0.text } == ["sid=1; lang=de"] && counted.record.bytesSent == 7)
    #expect(counted.requestID == request.requestID && counted.route === request.route)
    let plain = bench.request(.get, "/f", [(.cookie, "lang=de")])
    #expect(plain.withoutCookies() === plain)
  }
}
