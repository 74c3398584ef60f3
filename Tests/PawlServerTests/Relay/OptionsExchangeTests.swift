import PawlTestKit
import Testing

@testable import PawlServer

@Suite("OPTIONS on routes that take uploads") struct OptionsExchangeTests {
  private let preflight = [
    "Origin: https://app.example", "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: x-mine, upload-complete",
  ]

  private func ask(_ answer: String?, _ fields: [String] = [], site: String = "") throws -> Answer {
    let origin = ScriptedOrigin(.tcp, scripts: answer.map { [[.expectHead, .send($0), .readToEnd]] } ?? [[.reset]])
    let pawl = try TestServer(origin) { $0.site = site }
    defer { pawl.stop() }
    return pawl.ask(
      "OPTIONS /f HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n")
  }

  @Test("the origin's answer is joined with what pawl adds; 200, not 204")
  func joined() throws {
    let answer = try ask("HTTP/1.1 204 No Content\r\nAllow: POST\r\nAccept-Patch: text/x\r\nDAV: 1\r\n\r\n")
    #expect(answer.status == 200)
    #expect(answer.values("Allow", "DAV", "Tus-Version") == ["POST", "1", "1.0.0"])
    #expect(answer["Accept-Patch"] == "text/x, application/partial-upload, application/offset+octet-stream")
    #expect(answer["Upload-Limit"]?.contains("min-size=65536") == true)
  }

  @Test("an origin that knows no OPTIONS, or is away, leaves the answer to pawl", arguments: [404, 405, 501, 0])
  func own(_ status: Int) throws {
    let answer = try ask(status == 0 ? nil : "HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
    #expect(answer.status == 200 && answer.text == "" && answer["Upload-Limit"] != nil)
  }

  @Test("other refusals are passed on, but not to a preflight that pawl can answer")
  func refused() throws {
    let refusal = "HTTP/1.1 401 Who\r\nContent-Length: 2\r\n\r\nno"
    let cors = "cors = https://app.example"
    #expect(try ask(refusal).status == 401)
    #expect(try ask(refusal, preflight).status == 401)
    let answer = try ask(refusal, preflight, site: cors)
    #expect(answer.status == 200 && answer["Access-Control-Allow-Origin"] == "https://app.example")
    #expect(answer["Access-Control-Allow-Headers"]?.contains("x-mine") == true)
    #expect(
      try ask(refusal, ["Origin: https://b.example", "Access-Control-Request-Method: PUT"], site: cors).status == 401)
  }

  @Test("an answer that breaks off is cut; a preflight goes by pawl's own")
  func brokenOff() throws {
    let broken = "HTTP/1.1 200 OK\r\nDAV: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\nx\r\n"
    let answer = try ask(broken)
    #expect(answer.status == 200 && answer["DAV"] == "1" && answer.text == "no" && !answer.isWhole)
    let own = try ask(broken, preflight, site: "cors = https://app.example")
    #expect(own.status == 200 && own.isWhole && own.text == "" && own["DAV"] == nil)
  }

  @Test("nothing is said twice where the origin speaks CORS itself")
  func merged() throws {
    let answer = try ask(
      "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: X-Mine\r\nContent-Length: 0\r\n\r\n",
      preflight, site: "cors = https://app.example")
    func count(_ name: String) -> Int { answer.lines.count { $0.hasPrefix("\(name): ") } }
    #expect(answer["Access-Control-Allow-Origin"] == "*" && count("Access-Control-Allow-Origin") == 1)
    #expect(count("Access-Control-Allow-Headers") == 1)
    #expect(answer["Access-Control-Allow-Headers"]?.contains("Tus-Resumable") == true)
  }
}
