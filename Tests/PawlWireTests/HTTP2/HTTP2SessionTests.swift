import PawlHTTP
import PawlWire
import Testing

@Suite("HTTP/2 session: whole exchanges with an nghttp2 client (RFC 9113 §8)") struct HTTP2SessionTests {
  @Test("a request without content and its answer", arguments: [Int.max, 1, 7])
  func exchange(_ piece: Int) {
    let (server, client) = (HTTP2Serving(), HTTP2Client())
    server.onBegan = { stream, _ in
      server.answer(stream, 200, [(.contentType, "text/plain")], length: 5, content: latin("hello"))
    }
    let stream = client.request("GET", "/x?y", [("accept", "*/*")])
    client.talk(to: server, piece: piece)
    #expect(
      server.takeEvents() == ["began 1 GET /x?y a none|accept: */*", "ended 1", "answered 1", "closed 1 nil"])
    #expect(
      client.answers[stream]
        == HTTP2Client.Answer(head: "200|content-type: text/plain|content-length: 5", content: latin("hello"), code: 0))
    #expect(server.session.streamCount == 0)
    #expect(!server.session.wantsToSend)
  }

  @Test("content of a request, with and without a length, and its trailers", arguments: [Int.max, 1, 100])
  func upload(_ piece: Int) {
    let (server, client) = (HTTP2Serving(), HTTP2Client())
    server.onEnded = { server.answer($0, 204) }
    let content = [UInt8](repeating: 0x61, count: 3000)
    client.request("PUT", "/a", [("content-length", "3000")], content: content)
    client.request("PUT", "/b", content: content, trailers: [("upload-checksum", "sha1 x"), ("x-other", "1")])
    client.talk(to: server, piece: piece)
    let events = server.takeEvents().filter { !$0.hasPrefix("content") }
    #expect(events.contains("began 1 PUT /a a 3000|content-length: 3000"))
    #expect(events.contains("began 3 PUT /b a open"))
    #expect(events.contains("ended 1") && events.contains("ended 3 Upload-Checksum=sha1 x"))
    #expect(server.received == [1: content, 3: content])
    #expect(client.answers.mapValues(\.head) == [1: "204", 3: "204"])
    #expect(client.answers.mapValues(\.code) == [1: 0, 3: 0])
  }

  @Test("interim answers, trailers, and what has no place in HTTP/2")
  func interim() {
    let (server, client) = (HTTP2Serving(), HTTP2Client())
    server.onBegan = { stream, _ in
      var early = ResponseHead(status: 103)
      early.fields.append(.link, "</a>")
      server.session.sendInterim(ResponseHead(status: 101), on: stream)
      server.session.sendInterim(early, on: stream)
      server.session.sendInterim(ResponseHead(status: 104), on: stream)
      var trailers = Fields()
      trailers.append(.reprDigest, "x")
      server.answer(
        stream, 200, [(.connection, "close"), (.keepAlive, "x"), (.transferEncoding, "chunked"), (.etag, "\"a\"")],
        content: latin("abc"), trailers: trailers)
    }
    client.request("GET")
    client.talk(to: server)
    #expect(
      client.answers[1]
        == HTTP2Client.Answer(
          interim: ["103|link: </a>", "104"], head: "200|etag: \"a\"", content: latin("abc"),
          trailers: "repr-digest: x", code: 0))
  }
}
