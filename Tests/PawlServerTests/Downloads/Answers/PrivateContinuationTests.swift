import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A private body that was left in part") struct PrivateContinuationTests {
  private static func head(_ fields: String = "", length: Int = 10) -> String {
    "HTTP/1.1 200 OK\r\nCache-Control: private\r\n\(fields)Content-Length: \(length)\r\n\r\n"
  }

  /// The first answer ends behind four bytes of ten, and the only attempt to go on ends at once; then come the others, one
  /// to a connection.
  private func start(_ fields: String = "", _ others: String...) throws -> (TestServer, ScriptedOrigin) {
    let broken: [[OriginStep]] = [[.expectHead, .send(Self.head(fields) + "0123")], [.expectHead]]
    let origin = ScriptedOrigin(.tcp, scripts: broken + others.map { [.expectHead, .send($0), .readToEnd] })
    let pawl = try TestServer(origin) {
      $0.site = "resume-private = 10m"
      $0.upstream = "resume-attempts = 1"
    }
    return (pawl, origin)
  }

  private func requests(_ origin: ScriptedOrigin) -> [Substring] {
    String(decoding: origin.received.flatMap(\.self), as: UTF8.self).split(separator: "\r\n\r\n")
  }

  /// - Returns: the tag of a body of which four bytes are held, and which nobody fills.
  private func leave(_ pawl: TestServer, _ field: String) throws -> String {
    let first = pawl.get("/f", field)
    #expect(first.text == "0123" && !first.isWhole)
    pawl.waitFor("fill-ended")
    return try #require(first["ETag"])
  }

  private static let (ann, jar) = ("Authorization: Basic ann", "Cookie: a=1")

  @Test("what is held is there unasked for whom it is open, and for nobody else")
  func held() throws {
    let (pawl, origin) = try start("", Self.head() + "0123456789")
    let tag = try leave(pawl, Self.ann)
    let part = pawl.get("/f", Self.ann, "Range: bytes=1-3", "If-Range: \(tag)")
    #expect(part.status == 206 && part.text == "123" && part["ETag"] == tag && requests(origin).count == 2)
    let other = pawl.get("/f", Self.jar, "Range: bytes=1-3", "If-Range: \(tag)")
    #expect(other.text.count <= 10 && requests(origin).count == 3)
    #expect(pawl.stop() == [])
  }

  @Test("the origin is asked for all of it, and gives the rest where it begins as what is held", arguments: [ann, jar])
  func replayed(_ field: String) throws {
    let (pawl, origin) = try start("", Self.head() + "0123456789")
    let tag = try leave(pawl, field)
    let rest = pawl.get("/f", field, "Range: bytes=3-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "3456789" && rest.isWhole && rest["ETag"] == tag)
    let asked = requests(origin)
    #expect(asked.count == 3 && asked[2].contains(field) && !asked[2].contains("Range"))
    #expect(pawl.stop() == [])
  }

  @Test("by the origin's strong tag only the rest is asked for", arguments: [ann, jar])
  func byRange(_ field: String) throws {
    let part =
      "HTTP/1.1 206 Partial Content\r\nETag: \"v\"\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\n"
    let (pawl, origin) = try start("ETag: \"v\"\r\n", part + "0123456789")
    let tag = try leave(pawl, field)
    let rest = pawl.get("/f", field, "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag)
    #expect(requests(origin)[2].contains("If-Range: \"v\""))
    #expect(pawl.stop() == [])
  }

  @Test("a date ties nothing together: each user's page may have it")
  func date() throws {
    let date = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    let (pawl, origin) = try start(date, Self.head(date) + "0123456789")
    let tag = try leave(pawl, Self.jar)
    #expect(pawl.get("/f", Self.jar, "Range: bytes=4-", "If-Range: \(tag)").text == "456789")
    #expect(!requests(origin)[2].contains("Range"))
    #expect(pawl.stop() == [])
  }

  @Test("another answer is given as it is, and takes nothing from what is held", arguments: [ann, jar])
  func different(_ field: String) throws {
    let other = Self.head("Connection: close\r\n") + "01x3456789"
    let refused = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    let (pawl, _) = try start("", other, other, refused, refused, Self.head() + "0123456789")
    let tag = try leave(pawl, field)
    let whole = pawl.get("/f", field, "Range: bytes=4-", "If-Range: \(tag)")
    #expect(whole.status == 200 && whole.text == "01x3456789" && whole["ETag"] != tag)
    #expect(pawl.get("/f", field, "Range: bytes=4-", "If-Range: \(tag)").status == 403)
    let rest = pawl.get("/f", field, "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag)
    #expect(pawl.stop() == [])
  }

  @Test("another user is given the rest of the same from an answer of his own")
  func others() throws {
    let (pawl, origin) = try start("", Self.head("X-For: bob\r\n") + "0123456789")
    let tag = try leave(pawl, Self.ann)
    let rest = pawl.get("/f", "Authorization: Basic bob", "Range: bytes=4-", "If-Range: \(tag)")
    #expect(rest.status == 206 && rest.text == "456789" && rest["ETag"] == tag && rest["X-For"] == "bob")
    // What is held is still no more than that.
    let held = pawl.get("/f", Self.ann, "Range: bytes=0-3", "If-Range: \(tag)")
    #expect(held.status == 206 && held.text == "0123" && requests(origin).count == 3)
    #expect(pawl.stop() == [])
  }
}
