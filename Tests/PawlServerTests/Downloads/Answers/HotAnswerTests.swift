import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What is decided for a stored response, remembered") struct HotAnswerTests {
  typealias Line = (FieldName, String)
  private static let fresh: Line = (.cacheControl, "max-age=60")

  private func answer(
    _ fields: [Line] = [fresh], total: UInt64? = 10, tags: [TagRecord] = [TagRecord(tag: Array("a".utf8))],
    status: Int = 200, after seconds: Int64 = 0
  ) throws -> HotAnswer? {
    let box = try StoredResponseBox(fields, total: total, tags: tags, status: status)
    let now = box.bench.running.clock.wallSeconds() + seconds
    return HotAnswer.of(box.response, box.bench.route, now: now)
  }

  @Test("there is one only where the long way gives what is stored, whole, whatever the request accepts")
  func made() throws {
    #expect(try answer() != nil && answer(total: 0) != nil)
    #expect(try answer(after: 59) != nil && answer(after: 60) == nil && answer(after: -6) == nil)
    let others: [[Line]] = [
      [], [(.cacheControl, "max-age=60, no-cache")], [(.cacheControl, "max-age=0")],
      [Self.fresh, (.vary, "*")], [Self.fresh, (.vary, "Accept-Language")],
      [Self.fresh, (.contentType, "multipart/byteranges; boundary=b")],
    ]
    for (index, fields) in others.enumerated() { #expect(try answer(fields) == nil, "row \(index)") }
    #expect(try answer(total: nil) == nil && answer(status: 404) == nil)
  }

  @Test("an answer is kept with a record for a 200 alone: of any other status the long way says what it is, and whose")
  func whole() throws {
    func head(status: Int, _ fields: [Line] = [Self.fresh]) throws -> String? {
      let box = try StoredResponseBox(fields, status: status)
      let (response, route, now) = (box.response, box.bench.route, box.bench.running.clock.wallSeconds())
      let made = HotAnswer.whole(of: response, route, now: now)
      #expect((made == nil) == (HotAnswer.record(response, route, now: now) == nil))
      return made.map { String(decoding: $0.head.prefix(17), as: UTF8.self) }
    }
    #expect(try head(status: 200) == "HTTP/1.1 200 OK\r\n")
    for status in [203, 204, 299, 300, 301, 302, 308, 400, 404, 405, 410, 414, 451, 500, 501, 503] {
      #expect(try head(status: status) == nil, "\(status)")
    }
    #expect(try head(status: 200, [(.cacheControl, "max-age=0")]) == nil)
    #expect(try head(status: 200, [Self.fresh, (.vary, "Accept-Language")]) == nil)
  }

  @Test("it is remembered for its route, and for no longer than it is fresh")
  func remembered() throws {
    let box = try StoredResponseBox([Self.fresh])
    let now = box.bench.running.clock.wallSeconds()
    let made = try #require(HotAnswer.of(box.response, box.bench.route, now: now))
    #expect(HotAnswer.of(box.response, box.bench.route, now: now + 1000) === made)
    #expect(made.isFresh(at: now + 59) && !made.isFresh(at: now + 60) && !made.isFresh(at: now - 6))
    #expect(made.bornAt == now && made.freshUntil == now + 60 && made.total == 10)
  }

  @Test("a tag that does not name all of the body opens no part on the short way")
  func tags() throws {
    func opens(_ limit: UInt64) throws -> Bool? {
      let made = try answer(tags: [TagRecord(tag: Array("a".utf8), limit: limit)])
      return made.map { $0.shape(range: Bytes("bytes=3-5".utf8), ifRange: Bytes("\"a\"".utf8)) == Self.part(3, 5) }
    }
    #expect(try opens(.max) == true && opens(10) == true && opens(9) == true)
    #expect(try opens(8) == false && opens(0) == false)
  }

  private static func part(_ first: UInt64, _ last: UInt64) -> AnswerShape? {
    ByteRange(first: first, last: last).map(AnswerShape.part)
  }

  @Test(
    "what it gives of the body is what the long way gives; what it does not know it leaves to that",
    arguments: [
      (nil, nil, .whole), ("bytes=0-0", nil, part(0, 0)), ("bytes=9-", nil, part(9, 9)), ("bytes=-4", nil, part(6, 9)),
      ("bytes=0-99", nil, part(0, 9)), ("BYTES=3-5", nil, part(3, 5)), ("bytes=3-5", "\"a\"", part(3, 5)),
      ("bytes=3-5", "\"b\"", nil), ("bytes=3-5", "W/\"a\"", nil), ("bytes=3-5", "", nil), (nil, "\"a\"", nil),
      ("bytes=10-", nil, nil), ("bytes=-0", nil, nil), ("bytes=5-3", nil, nil), ("bytes=0-1,3-4", nil, nil),
      ("items=0-1", nil, nil), ("", nil, nil),
    ] as [(String?, String?, AnswerShape?)])
  func shapes(_ range: String?, _ ifRange: String?, _ expected: AnswerShape?) throws {
    let box = try StoredResponseBox([Self.fresh])
    let made = try #require(HotAnswer.of(box.response, box.bench.route, now: box.bench.running.clock.wallSeconds()))
    let shape = made.shape(range: range.map { Bytes($0.utf8) }, ifRange: ifRange.map { Bytes($0.utf8) })
    #expect(shape == expected)
    guard let shape else { return }
    var request = RequestHead(method: .get, target: [], authority: [])
    if let range { request.fields.append(.range, Array(range.utf8)) }
    if let ifRange { request.fields.append(.ifRange, Array(ifRange.utf8)) }
    #expect(StoredAnswer.shape(of: box.response, for: request, mayGivePart: true, maxRanges: 8).shape == shape)
  }

  @Test("its heads are those of the long way but for what changes by the second")
  func heads() throws {
    let box = try StoredResponseBox([Self.fresh, (.contentMD5, "x"), (.age, "7")])
    let now = box.bench.running.clock.wallSeconds()
    let made = try #require(HotAnswer.of(box.response, box.bench.route, now: now))
    #expect(
      String(decoding: made.head, as: UTF8.self).replacing("\r\n", with: "\n")
        == "HTTP/1.1 200 OK\nCache-Control: max-age=60\nContent-MD5: x\nETag: \"a\"\nAccept-Ranges: bytes\nVia: 1.1 pawl\n"
        + "Content-Length: 10\n")
    #expect(
      String(decoding: made.partHead, as: UTF8.self).replacing("\r\n", with: "\n")
        == "HTTP/1.1 206 Partial Content\nCache-Control: max-age=60\nETag: \"a\"\nAccept-Ranges: bytes\nVia: 1.1 pawl\n"
    )
  }
}
