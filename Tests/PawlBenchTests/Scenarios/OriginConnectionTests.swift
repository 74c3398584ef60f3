import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Connections to the test origin", .timeLimit(.minutes(1))) struct OriginConnectionTests {
  private func withClient(_ body: (ScriptedClient) throws -> Void) throws -> String {
    let origin = try Origin(listen: "127.0.0.1:0", threads: 1, core: nil)
    try body(ScriptedClient(port: origin.port))
    origin.stop()
    return origin.countsText
  }

  @Test("one carries request after request, whole, byte by byte and all at once")
  func keeps() throws {
    let content = Array(Origin.block[..<10])
    let request = "GET /bytes/10 HTTP/1.1\r\nHost: a\r\n\r\n"
    let counts = try withClient { client in
      for fragmenter in [Fragmenter.whole, .byteByByte] {
        client.send(request, fragmenter)
        let answer = client.readAnswer()
        #expect(answer.status == 200 && answer.content == content)
      }
      client.send("HEAD /bytes/10 HTTP/1.1\r\nHost: a\r\n\r\n" + request + request)
      #expect(client.readAnswer(isHead: true).content == [])
      for _ in 0..<2 { #expect(client.readAnswer().content == content) }
    }
    #expect(counts == "{\"connections\": 1, \"downloads\": 5, \"sent\": 40, \"uploads\": 0, \"received\": 0}\n")
  }

  @Test("uploads are counted and hashed, whatever their framing; 100 (Continue) is said where it is waited for")
  func uploads() throws {
    let digest = HashText.hexadecimal(HashText.digest(Array("0123456789".utf8), 10))
    let counts = try withClient { client in
      client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
      #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
      client.send("0123456789")
      let first = client.readAnswer()
      #expect(first["Bench-XXH3"] == digest && first["Bench-Length"] == "10" && first.text == "10 \(digest)\n")
      client.send(
        "PUT /y HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n",
        .byteByByte)
      #expect(client.readAnswer()["Bench-XXH3"] == digest)
      client.send("POST /z HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
      #expect(client.readAnswer()["Bench-Length"] == "0")
    }
    #expect(counts == "{\"connections\": 1, \"downloads\": 0, \"sent\": 0, \"uploads\": 3, \"received\": 20}\n")
  }

  @Test("an answer is cut, or comes late, where its URL says so")
  func troubles() throws {
    _ = try withClient { client in
      client.send("GET /bytes/10?delay=1&cut=4 HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.readHead().hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"))
      #expect(client.readToEnd().bytes == Array(Origin.block[..<4]))
    }
  }

  @Test("it tells its counts, knows no other path, and closes where it does not understand")
  func others() throws {
    _ = try withClient { client in
      client.send("GET /count HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.readAnswer().text.hasPrefix("{\"connections\": 1, "))
      client.send("GET /else HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(client.readAnswer().status == 404)
      client.send("nonsense\r\n\r\n")
      #expect(client.readToEnd().bytes == [])
    }
  }
}
