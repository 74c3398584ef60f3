import PawlCache
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Which coding a client holds a part of") struct DownloadExchangeCodingTests {
  @Test(
    "is asked of what its conditions name",
    arguments: [
      ([], .none), ([(.ifRange, "\"t\"")], .tag), ([(.ifRange, "W/\"t\"")], .none), ([(.ifRange, "x")], .none),
      ([(.ifRange, "\"pawl-00\"")], .minted), ([(.ifRange, today)], .date), ([(.ifMatch, "*")], .none),
      ([(.ifMatch, "\"a\", \"b\"")], .tag), ([(.ifMatch, "W/\"a\"")], .none),
      ([(.ifMatch, "\"a\""), (.ifRange, "\"pawl-00\"")], .tag), ([(.ifUnmodifiedSince, today)], .date),
    ] as [([(FieldName, String)], RangeCoding.Condition)])
  func conditions(_ fields: [(FieldName, String)], _ expected: RangeCoding.Condition) {
    #expect(HeldPart(Fields(fields)).condition == expected)
  }

  @Test("a body is named by its tags, and by the origin's where pawl shows another")
  func named() throws {
    let stored = try ServerBench().stored(tags: [TagRecord(tag: Array("a".utf8))], [(.etag, "\"t\"")])
    func names(_ tag: String) -> Bool { HeldPart(Fields([(.ifRange, tag)])).names(stored) }
    #expect(names("\"a\"") && names("\"t\"") && !names("\"b\""))
    #expect(names(today))
  }

  private static func whole(_ body: String, _ fields: String) -> String {
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\nETag: \"t\"\r\n\(fields)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test("one tag of the origin's over two codings names one of them; the other gets one of pawl's own")
  func renamed() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send(Self.whole("coded", "Content-Encoding: gzip\r\n")), .expectHead,
        .send(Self.whole("identity", "")), .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.site = "origin-encoding = pass" }
    let (coded, plain) = (pawl.get("/f", "Accept-Encoding: gzip"), pawl.get("/f", "Accept-Encoding: identity"))
    #expect(coded.text == "coded" && coded["ETag"] == "\"t\"")
    #expect(plain.text == "identity" && plain["ETag"]?.hasPrefix("\"pawl-") == true)
    func rest(_ accept: String, _ tag: String) -> String {
      let answer = pawl.get("/f", "Accept-Encoding: \(accept)", "Range: bytes=2-", "If-Range: \(tag)")
      return "\(answer.status) \(answer["Content-Encoding"] ?? "-") \(answer.text)"
    }
    // It may hold identity, by a range it asked for before.
    #expect(rest("gzip", "\"t\"") == "200 gzip coded")
    #expect(rest("identity", "\"t\"") == "200 - identity")
    #expect(rest("identity", plain["ETag"] ?? "") == "206 - entity")
    #expect(rest("gzip", plain["ETag"] ?? "") == "206 - entity")
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("what was coded before a reload is not completed with what is not")
  func reload() throws {
    let part =
      "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\nETag: \"t\"\r\nContent-Range: bytes 0-7/8\r\n"
      + "Content-Length: 8\r\n\r\nidentity"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send(Self.whole("coded", "Content-Encoding: gzip\r\n")), .expectHead,
        .sendMade { String(decoding: $0, as: UTF8.self).contains("\r\nRange") ? Array(part.utf8) : Self.plain },
        .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.site = "origin-encoding = pass" }
    #expect(pawl.get("/f", "Accept-Encoding: gzip").text == "coded")
    pawl.server.reload(try TestServer.configuration(url: "http://127.0.0.1:\(origin.port)", in: pawl.folder))
    pawl.settle()
    let rest = pawl.get("/f", "Accept-Encoding: gzip", "Range: bytes=2-", "If-Range: \"t\"")
    #expect(rest.status == 200 && rest.text == "identity" && rest["Content-Encoding"] == nil)
    #expect(pawl.stop() == [])
  }

  private static let plain = Array(whole("identity", "").utf8)

  @Test("a coded body's own range goes to who names it and takes it, over a restart too")
  func coded() throws {
    let folder = try TemporaryFolder()
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(Self.whole("coded", "Content-Encoding: gzip\r\n")), .readToEnd])
    let before = try TestServer(origin, in: folder) { $0.site = "origin-encoding = pass" }
    #expect(before.get("/f", "Accept-Encoding: gzip").text == "coded")
    #expect(before.stop() == [])
    let after = try TestServer(url: "http://127.0.0.1:1", in: folder) { $0.site = "origin-encoding = pass" }
    let rest = after.get("/f", "Accept-Encoding: gzip", "Range: bytes=2-", "If-Range: \"t\"")
    #expect(rest.status == 206 && rest.text == "ded" && rest["Content-Encoding"] == "gzip")
    #expect(after.get("/f", "Accept-Encoding: br", "Range: bytes=2-", "If-Range: \"t\"").status == 502)
    after.stop()
  }
}
