import Testing

@testable import PawlBench

@Suite("Requests to the test origin") struct OriginRequestTests {
  private func read(_ text: String) -> (OriginRequest, String)? {
    let bytes = Array(text.utf8)
    guard let request = OriginRequest(bytes.span) else { return nil }
    return (request, String(decoding: bytes[request.target], as: UTF8.self))
  }

  @Test("are read as far as it looks at them")
  func reads() throws {
    let (get, target) = try #require(read("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(get.method == .get && target == "/a?b" && !get.closes && get.length == 0)
    let (post, _) = try #require(
      read("POST / HTTP/1.1\r\nContent-Length: 12\r\nexpect: 100-continue\r\nConnection: close\r\n\r\n"))
    #expect(post.method == .other && post.length == 12 && post.expectsContinue && post.closes && !post.isChunked)
    let (put, _) = try #require(read("PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"))
    #expect(put.isChunked)
    #expect(try #require(read("HEAD / HTTP/1.0\r\n\r\n")).0.closes)
  }

  @Test(
    "or refused",
    arguments: ["", "GET\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / FTP/1.1\r\n\r\n", " / HTTP/1.1\r\n\r\n"])
  func refused(_ text: String) { #expect(read(text) == nil) }
}
