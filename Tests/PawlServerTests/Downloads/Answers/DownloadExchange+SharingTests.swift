import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Whose answer it is") struct DownloadExchangeSharingTests {
  private static func answer(_ text: String, _ fields: String) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\(fields)Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
  }

  private static let minute = "Cache-Control: max-age=60\r\n"

  @Test(
    "who waits for another's head gives up after five seconds, and not before", arguments: [(4_999, 1), (5_000, 2)])
  func patience(_ milliseconds: Int, _ requests: Int) throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      scripts: [
        [.expectHead, .wait(gate), Self.answer("1", Self.minute)],
        [.expectHead, Self.answer("2", Self.minute)],
      ])
    let pawl = try TestServer(origin)
    let (leader, other) = (pawl.connect(), pawl.connect())
    leader.send(TestServer.request())
    pawl.settle()
    other.send(TestServer.request())
    pawl.settle()
    pawl.clock.advance(by: .milliseconds(milliseconds))
    pawl.settle()
    if requests == 1 { gate.open() }
    #expect(other.readAnswer().text == "\(requests)")
    gate.open()
    #expect(leader.readAnswer().text == "1")
    #expect(origin.acceptedCount == requests)
    pawl.stop()
  }

  @Test("where the last answer was for everybody, others wait for the next as long as it takes")
  func memory() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.answer("1", "Cache-Control: max-age=5\r\n"),
      ],
      [
        .expectHead, .wait(gate),
        Self.answer("2", Self.minute), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    #expect(pawl.get().text == "1")
    pawl.clock.advance(by: .seconds(6))
    let (leader, other) = (pawl.connect(), pawl.connect())
    leader.send(TestServer.request())
    pawl.settle()
    other.send(TestServer.request())
    pawl.settle()
    pawl.clock.advance(by: .seconds(20))
    pawl.settle()
    gate.open()
    #expect([leader.readAnswer().text, other.readAnswer().text] == ["2", "2"])
    #expect(pawl.stop() == [] && origin.acceptedCount == 2)
  }

  @Test(
    "who waited has an answer that may be reused without asking, and asks for himself where it may not",
    arguments: [
      ("Cache-Control: max-age=60\r\n", true), ("Expires: Wed, 15 Nov 2023 22:13:20 GMT\r\n", true),
      ("Last-Modified: Sat, 11 Nov 2023 22:13:20 GMT\r\n", true), ("", false), ("Cache-Control: no-cache\r\n", false),
      ("Cache-Control: max-age=0\r\n", false), ("Cache-Control: must-revalidate\r\n", false),
      ("Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n", false),
    ])
  func reuse(_ fields: String, _ isShared: Bool) throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      scripts: [
        [.expectHead, .wait(gate), Self.answer("1", fields)],
        [.expectHead, Self.answer("2", fields)],
      ])
    let pawl = try TestServer(origin)
    let (leader, other) = (pawl.connect(), pawl.connect())
    leader.send(TestServer.request("/f", ["X-User: u1"]))
    pawl.settle()
    other.send(TestServer.request("/f", ["X-User: u2"]))
    pawl.settle()
    gate.open()
    #expect(leader.readAnswer().text == "1")
    let answer = other.readAnswer()
    #expect(answer.text == (isShared ? "1" : "2"))
    #expect(answer["Cache-Status"]?.hasSuffix("collapsed") == isShared)
    #expect(origin.acceptedCount == (isShared ? 1 : 2))
    pawl.stop()
  }
}
