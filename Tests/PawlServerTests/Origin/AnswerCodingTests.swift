import PawlCoding
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("In which coding an answer goes out") struct AnswerCodingTests {
  typealias Line = (FieldName, String)
  private static let takes: Line = (.acceptEncoding, "gzip, br")
  private static let cookie: Line = (.cookie, "sid=1")

  private func html(_ lines: [Line] = [], type: String = "text/html", status: Int = 200) -> ResponseHead {
    ResponseHead(status: status, fields: Fields([(.contentType, type)] + lines))
  }

  private func choice(
    _ bench: ServerBench, _ lines: [Line], _ head: ResponseHead? = nil, length: UInt64? = 5000, target: String = "/f",
    isForEverybody: Bool = false
  ) -> ContentCoding? {
    AnswerCoding.choose(
      for: bench.request(.get, target, lines), head ?? html(), length: length, isForEverybody: isForEverybody)
  }

  @Test("the one that is taken best, of what is compressed; no-transform of either side, and length, speak against it")
  func choices() throws {
    let bench = try ServerBench()
    #expect(choice(bench, [Self.takes]) == .brotli && choice(bench, [(.acceptEncoding, "*")]) == .zstd)
    #expect(choice(bench, []) == nil && choice(bench, [(.acceptEncoding, "identity")]) == nil)
    #expect(choice(bench, [Self.takes, (.cacheControl, "no-transform")]) == nil)
    #expect(choice(bench, [Self.takes], html([(.cacheControl, "no-transform")])) == nil)
    #expect(choice(bench, [Self.takes], length: 1023) == nil && choice(bench, [Self.takes], length: 1024) == .brotli)
    #expect(choice(bench, [Self.takes], html(type: "image/png")) == nil)
    let off = try ServerBench { $0.site = "compress = off" }
    #expect(choice(off, [Self.takes]) == nil && !AnswerCoding.depends(html(), length: 5000, on: off.request()))
    #expect(AnswerCoding.depends(html(), length: 5000, on: bench.request()))
  }

  @Test(
    "answers to cookies and credentials as the route says",
    arguments: [("auto", nil), ("on", .brotli), ("off", nil)] as [(String, ContentCoding?)])
  func credentials(_ setting: String, _ expected: ContentCoding?) throws {
    let bench = try ServerBench { $0.site = "compress-credentials = \(setting)" }
    for line in [Self.cookie, (.authorization, "Basic eDp5")] {
      #expect(choice(bench, [Self.takes, line]) == expected)
      #expect(choice(bench, [Self.takes, line], isForEverybody: true) == .brotli)
    }
  }

  /// The lesson of an answer to a request that `isToLearn`, or not.
  private func learn(
    _ bench: ServerBench, _ head: ResponseHead, _ lines: [Line] = [takes, cookie], target: String = "/f",
    length: UInt64 = 5000, asksOwn: Bool = true
  ) {
    let request = bench.request(.get, target, lines)
    request.asksOwnCoding = asksOwn
    AnswerCoding.learn(head, .length(length), to: request)
  }

  private func isToLearn(_ bench: ServerBench, _ lines: [Line], _ target: String = "/f") -> Bool {
    AnswerCoding.isToLearn(bench.request(.get, target, lines))
  }

  @Test("whether pages of users are compressed is learnt from one answer to such a request, of its type, for an hour")
  func lesson() throws {
    for (lines, expected) in [([(.contentEncoding, "gzip")], ContentCoding.brotli), ([], nil)]
      as [([Line], ContentCoding?)]
    {
      let bench = try ServerBench()
      #expect(!isToLearn(bench, [Self.takes]) && !isToLearn(bench, [Self.cookie]))
      #expect(!isToLearn(bench, [Self.takes, Self.cookie, (.range, "bytes=0-")]))
      #expect(!isToLearn(bench, [(.acceptEncoding, "br"), Self.cookie]))
      #expect(!AnswerCoding.isToLearn(bench.request(.head, "/f", [Self.takes, Self.cookie])))
      // What says nothing of its like is no answer: whoever comes asks.
      #expect(isToLearn(bench, [Self.takes, Self.cookie]))
      learn(bench, html(lines, status: 404))
      #expect(isToLearn(bench, [Self.takes, Self.cookie]) && choice(bench, [Self.takes, Self.cookie]) == nil)
      learn(bench, html(lines))
      #expect(!isToLearn(bench, [Self.takes, Self.cookie]) && choice(bench, [Self.takes, Self.cookie]) == expected)
      #expect(choice(bench, [Self.takes, Self.cookie], target: "/f?q") == expected)
      // Another page may be another thing, and so may another type.
      #expect(isToLearn(bench, [Self.takes, Self.cookie], "/g"))
      #expect(choice(bench, [Self.takes, Self.cookie], target: "/g") == nil)
      #expect(choice(bench, [Self.takes, Self.cookie], html(type: "application/json")) == nil)
      bench.pass(OriginCodings.lifetime)
      #expect(isToLearn(bench, [Self.takes, Self.cookie]) && choice(bench, [Self.takes, Self.cookie]) == nil)
    }
  }

  @Test("styles are learnt once for all, and what is stored is asked about beside the answer, at most once a minute")
  func assets() throws {
    let bench = try ServerBench()
    let css = html(type: "text/css")
    #expect(
      isToLearn(bench, [Self.takes, Self.cookie], "/a.css") && !isToLearn(bench, [Self.takes, Self.cookie], "/b.css"))
    func isToAsk(_ lines: [Line], _ target: String, _ head: ResponseHead) -> Bool {
      AnswerCoding.isToAskBeside(head, length: 5000, for: bench.request(.get, target, lines))
    }
    #expect(!isToAsk([Self.takes, Self.cookie], "/b.css", css))
    bench.pass(OriginCodings.pause)
    #expect(isToAsk([Self.takes, Self.cookie], "/b.css", css) && !isToAsk([Self.takes, Self.cookie], "/b.css", css))
    learn(bench, html([(.contentEncoding, "gzip")], type: "text/css"), target: "/b.css")
    bench.pass(OriginCodings.pause)
    #expect(!isToAsk([Self.takes, Self.cookie], "/c.css", css))
    #expect(choice(bench, [Self.takes, Self.cookie], css, target: "/c.css") == .brotli)
    #expect(!isToAsk([Self.takes], "/x", html()) && isToAsk([Self.takes], "/x", html(type: "application/pdf")))
    #expect(isToAsk([Self.takes, (.authorization, "a")], "/y", html()) && !isToAsk([Self.cookie], "/z", html()))
  }

  @Test("what is small or comes in chunks without a coding, teaches nothing; nor does what strangers are given")
  func noLesson() throws {
    let bench = try ServerBench()
    learn(bench, html([(.contentEncoding, "gzip")]), [Self.takes])
    #expect(choice(bench, [Self.takes, Self.cookie]) == nil)
    #expect(isToLearn(bench, [Self.takes, Self.cookie]))
    learn(bench, html(), length: 1023)
    #expect(isToLearn(bench, [Self.takes, Self.cookie]))
    let request = bench.request(.get, "/f", [Self.takes, Self.cookie])
    request.asksOwnCoding = true
    AnswerCoding.learn(html(), .chunked, to: request)
    #expect(isToLearn(bench, [Self.takes, Self.cookie]))
  }

  @Test("of a type that is not listed: the next answer of its ending tells, and counts for that type alone")
  func unlisted() throws {
    let bench = try ServerBench()
    let head = html(type: "application/x-protobuf")
    learn(bench, head, [Self.takes], target: "/1.pbf", asksOwn: false)
    #expect(isToLearn(bench, [Self.takes], "/2.pbf") && !isToLearn(bench, [Self.takes], "/2.bin"))
    #expect(choice(bench, [Self.takes], head, target: "/2.pbf") == nil)
    learn(bench, html([(.contentEncoding, "gzip")], type: "application/x-protobuf"), [Self.takes], target: "/2.pbf")
    #expect(!isToLearn(bench, [Self.takes], "/3.pbf"))
    #expect(choice(bench, [Self.takes], head, target: "/3") == .brotli)
    #expect(choice(bench, [Self.takes], html(type: "image/png"), target: "/3.pbf") == nil)
    #expect(choice(bench, [Self.takes], head, length: 1023, target: "/3.pbf") == nil)
    // What comes without a coding afterwards is what was asked for.
    learn(bench, head, [Self.takes], target: "/3.pbf", asksOwn: false)
    #expect(choice(bench, [Self.takes], head, target: "/3.pbf") == .brotli)
    let other = html(type: "application/octet-stream")
    learn(bench, other, [Self.takes], target: "/1.bin", length: 1023, asksOwn: false)
    #expect(!isToLearn(bench, [Self.takes], "/2.bin"))
    learn(bench, other, [Self.takes], target: "/1.bin", asksOwn: false)
    learn(bench, other, [Self.takes], target: "/1.bin")
    #expect(choice(bench, [Self.takes], other, target: "/2.bin") == nil)
  }

  @Test("a range that is asked for is of the content as it is")
  func range() throws {
    let bench = try ServerBench()
    #expect(choice(bench, [Self.takes, (.range, "bytes=5-")]) == nil)
  }

  @Test("who names by a date alone what it holds may hold text in a coded form, whatever is configured now")
  func heldCoded() throws {
    for site in ["compress = text", "compress = off"] {
      let bench = try ServerBench { $0.site = site }
      let request = bench.request(.get, "/f", [Self.takes])
      #expect(!AnswerCoding.mayBeHeldCoded(html().fields, by: request))
      request.namesByDateAlone = true
      #expect(AnswerCoding.mayBeHeldCoded(html().fields, by: request))
      #expect(AnswerCoding.mayBeHeldCoded(Fields(), by: request))
      #expect(!AnswerCoding.mayBeHeldCoded(html(type: "image/png").fields, by: request))
    }
  }

  @Test(
    "a 304 keeps the tag weak that its client names so; what the origin coded this once gets no strong one",
    arguments: [
      (304, "W/\"a\"", "W/\"a\""), (304, "W/\"a\", \"a\"", "\"a\""), (304, "\"a\"", "\"a\""), (304, "W/\"b\"", "\"a\""),
      (200, "W/\"a\"", "\"a\""),
    ])
  func keepApart(_ status: Int, _ named: String, _ expected: String) throws {
    let bench = try ServerBench()
    var head = ResponseHead(status: status, fields: Fields([(.etag, "\"a\"")]))
    AnswerCoding.keepApart(&head, for: bench.request(.get, "/f", [Self.takes, (.ifNoneMatch, named)]))
    let isWeakened = expected.hasPrefix("W/")
    #expect(head.fields.shown.sorted() == ["etag: \(expected)"] + (isWeakened ? ["vary: Accept-Encoding"] : []))
    let request = bench.request(.get, "/f", [Self.takes])
    request.asksOwnCoding = true
    var coded = html([(.contentEncoding, "gzip"), (.etag, "\"a\"")])
    AnswerCoding.keepApart(&coded, for: request)
    #expect(coded.fields.only(.etag)?.elementsEqual("W/\"a\"".utf8) == true && coded.fields.contains(.vary))
  }

  @Test("on its way: the head becomes that of coded content, without a length; HEAD says what GET does")
  func onItsWay() throws {
    let bench = try ServerBench()
    let lines: [Line] = [(.etag, "\"a\""), (.acceptRanges, "bytes"), (.reprDigest, "sha-256=:AA==:")]
    let expected = Fields([
      (.contentType, "text/html"), (.etag, "W/\"a\""), (.contentEncoding, "br"), (.vary, "Accept-Encoding"),
    ])
    var head = html(lines)
    let source = MemoryBody(Array(repeating: 7, count: 5000))
    let coded = AnswerCoding.onItsWay(source, .known(5000), under: &head, to: bench.request(.get, "/f", [Self.takes]))
    #expect(Set(head.fields.shown) == Set(expected.shown) && coded.length == .unknown && coded.body is CodedStream)
    for length in [ContentLength.known(5000), .none] {
      head = html(lines)
      let said = AnswerCoding.onItsWay(nil, length, under: &head, to: bench.request(.head, "/f", [Self.takes]))
      #expect(Set(head.fields.shown) == Set(expected.shown) && said.length == .unknown && said.body == nil)
    }
    head = html(lines)
    let plain = AnswerCoding.onItsWay(source, .known(5000), under: &head, to: bench.request())
    #expect(plain.body === source && plain.length == .known(5000))
    #expect(head.fields.shown == html(lines + [(.vary, "Accept-Encoding")]).fields.shown)
    coded.body?.finish()
  }

  @Test("where there is no room for an encoder gzip's is tried, and then it goes out as it is")
  func room() throws {
    let bench = try ServerBench()
    let memory = bench.services.shared.codingMemory
    var shares: [CodingMemory.Share] = []
    while let share = memory.take(for: .brotli, isKept: false) { shares.append(share) }
    let content = [UInt8](repeating: 7, count: 5000)
    var head = html()
    let bytes = content.withUnsafeBytes {
      AnswerCoding.whole($0, under: &head, to: bench.request(.get, "/f", [Self.takes]))
    }
    #expect(bytes != nil && head.fields.first(.contentEncoding)?.elementsEqual("gzip".utf8) == true)
    while let share = memory.take(for: .gzip, isKept: false) { shares.append(share) }
    head = html()
    let none = content.withUnsafeBytes {
      AnswerCoding.whole($0, under: &head, to: bench.request(.get, "/f", [Self.takes]))
    }
    #expect(none == nil && head.fields.shown == html([(.vary, "Accept-Encoding")]).fields.shown)
    withExtendedLifetime(shares) {}
  }
}

extension Fields {
  fileprivate var shown: [String] {
    lines.map { "\($0.name): " + String(decoding: value($0), as: UTF8.self) }
  }
}
