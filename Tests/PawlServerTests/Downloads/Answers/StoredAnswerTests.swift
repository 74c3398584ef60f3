import PawlCache
import PawlCacheStore
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What a stored response answers") struct StoredAnswerTests {
  typealias Line = (FieldName, String)
  private static let date = "Mon, 13 Nov 2023 00:00:00 GMT"

  private func shape(
    _ stored: StoredResponseBox, _ fields: [Line], method: PawlHTTP.Method = .get, isOutOfPatience: Bool = false
  ) -> AnswerShape {
    StoredAnswer(
      stored.response, request: stored.bench.request(method, "/f", fields),
      served: Served(arrival: nil, isCollapsed: false), isOutOfPatience: isOutOfPatience
    ).shape
  }

  private func part(_ first: UInt64, _ last: UInt64) throws -> AnswerShape {
    .part(try #require(ByteRange(first: first, last: last)))
  }

  @Test("conditions first, then If-Range, then the range (RFC 9110 §13.2.2)")
  func shapes() throws {
    let stored = try StoredResponseBox([(.etag, "W/\"origin\""), (.lastModified, Self.date), (.date, today)])
    let rows: [([Line], AnswerShape)] = [
      ([], .whole), ([(.range, "bytes=2-4")], try part(2, 4)), ([(.range, "bytes=-3")], try part(7, 9)),
      ([(.range, "bytes=9-99")], try part(9, 9)), ([(.range, "bytes=10-")], .unsatisfiable),
      ([(.range, "lines=1-2")], .whole),
      ([(.range, "bytes=2-"), (.ifRange, "\"a\"")], try part(2, 9)),
      ([(.range, "bytes=2-"), (.ifRange, "\"b\"")], .whole),
      ([(.range, "bytes=2-"), (.ifRange, "W/\"a\"")], .whole),
      ([(.range, "bytes=10-"), (.ifRange, "\"b\"")], .whole),
      ([(.range, "bytes=2-"), (.ifRange, Self.date)], try part(2, 9)),
      ([(.range, "bytes=2-"), (.ifRange, today)], .whole),
      ([(.range, "bytes=2-"), (.ifRange, "nonsense")], .whole),
      ([(.ifNoneMatch, "\"a\"")], .notModified), ([(.ifNoneMatch, "\"x\", \"a\"")], .notModified),
      ([(.ifNoneMatch, "W/\"origin\"")], .notModified), ([(.ifNoneMatch, "*")], .notModified),
      ([(.ifNoneMatch, "\"b\"")], .whole), ([(.ifNoneMatch, "\"b\""), (.range, "bytes=0-0")], try part(0, 0)),
      ([(.ifNoneMatch, "\"a\""), (.range, "bytes=0-0")], .notModified),
      ([(.ifModifiedSince, Self.date)], .notModified), ([(.ifModifiedSince, "Sun, 12 Nov 2023 00:00:00 GMT")], .whole),
      ([(.ifNoneMatch, "\"b\""), (.ifModifiedSince, Self.date)], .whole),
    ]
    for (index, row) in rows.enumerated() { #expect(shape(stored, row.0) == row.1, "row \(index)") }
    #expect(shape(stored, [(.range, "bytes=2-4")], method: .head) == .whole)
    #expect(shape(stored, [(.range, "bytes=2-4")], isOutOfPatience: true) == .whole)
  }

  @Test("a tag says nothing beyond what can be proven of it")
  func limits() throws {
    let stored = try StoredResponseBox(
      [], tags: [TagRecord(tag: Array("a".utf8), limit: 5), TagRecord(tag: Array("b".utf8))])
    let rows: [([Line], AnswerShape)] = [
      ([(.range, "bytes=5-"), (.ifRange, "\"a\"")], try part(5, 9)),
      ([(.range, "bytes=6-"), (.ifRange, "\"a\"")], .whole),
      ([(.range, "bytes=6-"), (.ifRange, "\"b\"")], try part(6, 9)),
      // What is proven goes anywhere; what goes on behind it may only stand at the end, where nothing of another body follows.
      ([(.range, "bytes=2-4"), (.ifRange, "\"a\"")], try part(2, 4)),
      ([(.range, "bytes=2-5"), (.ifRange, "\"a\"")], .whole),
      ([(.range, "bytes=2-9"), (.ifRange, "\"a\"")], try part(2, 9)),
      // Close together, they become one range.
      ([(.range, "bytes=0-0,8-8"), (.ifRange, "\"a\"")], .whole),
      ([(.range, "bytes=0-0,4-4"), (.ifRange, "\"a\"")], try part(0, 4)),
      ([(.range, "bytes=10-"), (.ifRange, "\"a\"")], .whole),
      ([(.range, "bytes=10-"), (.ifRange, "\"b\"")], .unsatisfiable),
      ([(.ifNoneMatch, "\"a\"")], .whole), ([(.ifNoneMatch, "\"b\"")], .notModified),
    ]
    for (index, row) in rows.enumerated() { #expect(shape(stored, row.0) == row.1, "row \(index)") }
  }

  @Test("a range waits for the total; other statuses have none")
  func others() throws {
    let growing = try StoredResponseBox([], total: nil)
    #expect(shape(growing, [(.range, "bytes=0-0")]) == .needsTotal)
    #expect(shape(growing, [(.range, "bytes=0-0"), (.ifRange, "\"b\"")]) == .whole)
    #expect(shape(growing, [(.ifNoneMatch, "\"a\"")]) == .notModified)
    let missing = try StoredResponseBox([], status: 404)
    #expect(shape(missing, [(.range, "bytes=0-0")]) == .whole)
    #expect(shape(missing, [(.ifNoneMatch, "\"a\"")]) == .whole)
  }

  @Test("heads: the fields of the stored response, a tag, ranges, its age, what the cache did")
  func heads() throws {
    let stored = try StoredResponseBox(
      [(.contentType, "text/plain"), (.cacheControl, "max-age=60"), (.contentMD5, "x"), (.contentLanguage, "en")])
    stored.bench.running.clock.advance(by: .seconds(7))
    func answer(_ fields: [Line] = [], _ served: Served = Served(arrival: nil, isCollapsed: false)) -> StoredAnswer {
      StoredAnswer(
        stored.response, request: stored.bench.request(.get, "/f", fields), served: served, isOutOfPatience: false)
    }
    func shown(_ head: ResponseHead) -> String {
      "\(head.status)\n" + head.fields.description.replacing("\r\n", with: "\n")
    }
    let tail = "ETag: \"a\"\nAccept-Ranges: bytes\nAge: 7\nCache-Status: pawl; hit; ttl=53\n"
    #expect(
      shown(answer().whole())
        == "200\nContent-Type: text/plain\nCache-Control: max-age=60\nContent-MD5: x\nContent-Language: en\n" + tail)
    #expect(
      shown(answer().part(try #require(ByteRange(first: 2, last: 4))))
        == "206\nContent-Type: text/plain\nCache-Control: max-age=60\nContent-Language: en\nContent-Range: bytes 2-4/10\n"
        + tail)
    #expect(shown(answer().notModified()).contains("Cache-Control: max-age=60\nContent-MD5: x\n" + tail))
    let unsatisfiable = answer().unsatisfiable()
    #expect(
      shown(unsatisfiable.head)
        == "416\nCache-Control: max-age=60\nContent-Range: bytes */10\nContent-Type: text/plain; charset=utf-8\n" + tail
    )
    #expect(
      String(decoding: unsatisfiable.body, as: UTF8.self)
        == "416 Range Not Satisfiable\n\nThe range lies beyond the end: there are 10 bytes.\n")
    #expect(
      shown(answer().parts(contentType: Array("m".utf8))).hasPrefix(
        "206\nCache-Control: max-age=60\nContent-Language: en\nContent-Type: m\n"))
  }

  @Test("how the response came about stands in Cache-Status")
  func cacheStatus() throws {
    let stored = try StoredResponseBox([(.cacheControl, "max-age=60")])
    func status(_ arrival: CollapsedFetch.Arrival?, isCollapsed: Bool = false) -> String? {
      StoredAnswer(
        stored.response, request: stored.bench.request(), served: Served(arrival: arrival, isCollapsed: isCollapsed),
        isOutOfPatience: false
      ).whole().fields.first(.cacheStatus)?.text
    }
    #expect(status(nil) == "pawl; hit; ttl=60")
    #expect(status(.validated) == "pawl; fwd=stale; fwd-status=304")
    #expect(status(.staleOnError) == "pawl; hit; ttl=60; detail=stale-on-error")
    #expect(status(.fetched(status: 200, why: .uriMiss)) == "pawl; fwd=uri-miss; fwd-status=200; stored")
    #expect(
      status(.fetched(status: 206, why: .varyMiss), isCollapsed: true)
        == "pawl; fwd=vary-miss; fwd-status=206; stored; collapsed")
  }

  @Test("the tag the client named is the one it is shown")
  func alias() throws {
    let stored = try StoredResponseBox(
      [], tags: [TagRecord(tag: Array("new".utf8)), TagRecord(tag: Array("old".utf8))])
    func tag(_ fields: [Line], _ head: (StoredAnswer) -> ResponseHead) -> String? {
      let answer = StoredAnswer(
        stored.response, request: stored.bench.request(.get, "/f", fields),
        served: Served(arrival: nil, isCollapsed: false), isOutOfPatience: false)
      return head(answer).fields.first(.etag)?.text
    }
    let range = try #require(ByteRange(first: 1, last: 9))
    #expect(tag([]) { $0.whole() } == "\"new\"")
    #expect(tag([(.range, "bytes=1-"), (.ifRange, "\"old\"")]) { $0.part(range) } == "\"old\"")
    #expect(tag([(.ifNoneMatch, "\"old\"")]) { $0.notModified() } == "\"old\"")
    #expect(tag([(.range, "bytes=1-"), (.ifRange, "\"gone\"")]) { $0.whole() } == "\"new\"")
  }
}

/// A stored response with the bench it lives on.
struct StoredResponseBox {
  let bench: ServerBench
  let response: StoredResponse

  init(
    _ fields: [(FieldName, String)], total: UInt64? = 10, tags: [TagRecord] = [TagRecord(tag: Array("a".utf8))],
    status: Int = 200
  ) throws {
    bench = try ServerBench()
    response = try bench.stored(total: total, tags: tags, status: status, fields)
  }
}
