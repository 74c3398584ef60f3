import PawlCache
import PawlHTTP
import PawlStore
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
    func tag(_ limit: UInt64) throws -> String? {
      try answer(tags: [TagRecord(tag: Array("a".utf8), limit: limit)]).map { String(decoding: $0.tag, as: UTF8.self) }
    }
    #expect(try tag(.max) == "\"a\"" && tag(10) == "\"a\"" && tag(9) == "\"a\"")
    #expect(try tag(8) == "" && tag(0) == "")
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
