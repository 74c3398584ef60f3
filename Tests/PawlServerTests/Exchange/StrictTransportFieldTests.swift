import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Strict-Transport-Security") struct StrictTransportFieldTests {
  private let cached =
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nStrict-Transport-Security: max-age=1\r\nContent-Length: 2\r\n\r\nok"

  @Test("is the route's over TLS: on what the origin gives, what is stored and what pawl says itself")
  func secure() throws {
    let server = try SecureServer(answer: cached) {
      $0.cache = "memory-object = 32K"
      $0.site = "hsts = 365d include-subdomains"
      $0.more += "\n[route:default/none]\npath = /none\nupstream = app\nhsts = off"
    }
    for hit in ["fwd=uri-miss", "hit", "hit"] {
      let answer = server.ask()
      #expect(
        answer?.lines.filter { $0.lowercased().hasPrefix("strict") } == [
          "Strict-Transport-Security: max-age=31536000; includeSubDomains"
        ])
      #expect(answer?["Cache-Status"]?.contains(hit) == true)
    }
    let (client, _) = server.connect()
    client.send("GET /f HTTP/1.1\r\nHost: a.example\r\nRange: bytes=9-\r\n\r\n")
    let refused = client.readAnswer()
    #expect(refused.status == 416)
    #expect(refused["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains")
    client.send("GET /none HTTP/1.1\r\nHost: a.example\r\n\r\n")
    #expect(client.readAnswer()["Strict-Transport-Security"] == "max-age=1")
    client.close()
    #expect(server.pawl.stop() == [])
  }

  @Test("is never said in clear where the route has its own, and the origin's passes where it has not")
  func clear() throws {
    for (site, expected) in [("hsts = 365d", nil), ("", "max-age=1" as String?)] {
      let origin = ScriptedOrigin(scripts: [[.answerAll(cached)]])
      let pawl = try TestServer(origin) {
        $0.cache = "memory-object = 32K"
        $0.site = site
      }
      for _ in 0..<3 { #expect(pawl.get()["Strict-Transport-Security"] == expected) }
      #expect(pawl.stop() == [])
    }
  }

  @Test("is said where a trusted proxy speaks TLS with the client, also of what is in memory")
  func proxied() throws {
    let origin = ScriptedOrigin(scripts: [[.answerAll(cached)]])
    let pawl = try TestServer(origin) {
      $0.pawl = "trusted-proxies = 127.0.0.1"
      $0.cache = "memory-object = 32K"
      $0.site = "hsts = 365d"
    }
    for _ in 0..<3 {
      #expect(pawl.get("/f", "X-Forwarded-Proto: https")["Strict-Transport-Security"] == "max-age=31536000")
    }
    // What http://site/f is, is another question.
    #expect(pawl.get("/f")["Cache-Status"]?.contains("uri-miss") == true)
    #expect(pawl.get("/f")["Strict-Transport-Security"] == nil)
    #expect(pawl.stop() == [])
  }
}
