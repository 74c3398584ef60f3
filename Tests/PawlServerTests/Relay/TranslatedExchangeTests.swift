import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Unsafe requests with a condition on pawl's own tags") struct TranslatedExchangeTests {
  @Test(
    "are refused without the origin where nothing is known of the body, and keep the connection for the next request")
  func refused() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    for name in ["If-Match", "If-None-Match"] {
      let answer = pawl.ask("PUT /f HTTP/1.1\r\nHost: site\r\n\(name): \"pawl-0\"\r\nContent-Length: 3\r\n\r\nabc")
      #expect(answer.status == 412, "\(name)")
    }
    // The origin's own tag is the origin's to judge: here there is none.
    let answer = pawl.ask("PUT /f HTTP/1.1\r\nHost: site\r\nIf-Match: \"a\"\r\nContent-Length: 3\r\n\r\nabc")
    #expect(answer.status == 502)
  }
}
