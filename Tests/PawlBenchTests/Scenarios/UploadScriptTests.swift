import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Uploads that are broken off", .timeLimit(.minutes(1))) struct UploadScriptTests {
  private static let body = UploadBody(block: Array("0123456789".utf8), size: 10)

  private func run(
    _ dialect: UploadPlan.Dialect, interruptions: Int = 0, timeout: Double = 5, _ scripts: [OriginStep]...
  ) throws -> (tally: Tally, server: ScriptedOrigin) {
    let plan = UploadPlan(dialect: dialect, size: 10, interruptions: interruptions)
    var settings = try Performing.settings(.upload(plan))
    settings.timeout = timeout
    let server = ScriptedOrigin(.tcp, scripts: scripts)
    return (try Performing.run(settings, server, body: Self.body), server)
  }

  /// How much content came behind the head.
  private static func contentCount(_ received: [UInt8]) -> Int {
    var at = 0
    while at + 4 <= received.count, received[at..<at + 4] != [13, 10, 13, 10] { at += 1 }
    return received.count - at - 4
  }

  private static let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
  private static let interim = "HTTP/1.1 104 R\r\nUpload-Draft-Interop-Version: 6\r\nLocation: /u/1\r\n\r\n"

  @Test("plain: the content goes out whole and the answer has to be 2xx")
  func plain() throws {
    let (tally, server) = try run(.plain, [.expectHead, .expect("0123456789"), .send(Self.okay), .expectEnd])
    #expect(server.finish() == [] && tally.completed == 1 && tally.sent == 10 && tally.failures == [:])
    let refused = try run(.plain, [.expectHead, .send("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n"), .readToEnd])
    #expect(refused.server.finish() == [] && refused.tally.failures == [.status(413): 1])
  }

  @Test("plain, interrupted: it begins again, and what was sent is sent again")
  func plainInterrupted() throws {
    let (tally, server) = try run(
      .plain, interruptions: 1, [.expectHead, .readToEnd],
      [.expectHead, .expect("0123456789"), .send(Self.okay), .readToEnd])
    #expect(server.finish() == [] && tally.completed == 1 && tally.interruptions == 1 && tally.restarts == 1)
    let sent = Self.contentCount(server.received[0])
    #expect(sent > 0 && sent < 10 && tally.again == UInt64(sent) && tally.sent == UInt64(10 + sent))
  }

  @Test("RUFH, interrupted: it waits for the upload's URL, asks for the offset and sends the rest")
  func interop() throws {
    let (tally, server) = try run(
      .interop(6), interruptions: 1, [.expectHead, .send(Self.interim), .readToEnd],
      [
        .expect("HEAD /u/1 HTTP/1.1\r\nHost: a.example\r\nUpload-Draft-Interop-Version: 6\r\n\r\n"),
        .send("HTTP/1.1 204 No\r\nUpload-Offset: 1\r\nUpload-Complete: ?0\r\n\r\n"),
        .expect(
          "PATCH /u/1 HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 1\r\n"
            + "Upload-Draft-Interop-Version: 6\r\nUpload-Complete: ?1\r\nContent-Length: 9\r\n\r\n123456789"),
        .send("HTTP/1.1 200 OK\r\nUpload-Complete: ?1\r\nContent-Length: 0\r\n\r\n"), .readToEnd,
      ])
    #expect(server.finish() == [] && tally.completed == 1 && tally.interruptions == 1 && tally.exchanges == 3)
    let sent = Self.contentCount(server.received[0])
    #expect(tally.again == UInt64(sent - 1) && tally.restarts == 0)
  }

  @Test("tus, broken off by the server: the rest follows from the offset it tells")
  func tus() throws {
    let (tally, server) = try run(
      .tus,
      [
        .expect(
          "POST /x HTTP/1.1\r\nHost: a.example\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 10\r\nContent-Length: 0\r\n\r\n"
        ),
        .send("HTTP/1.1 201 Created\r\nLocation: http://a.example/u/1\r\nContent-Length: 0\r\n\r\n"),
        .expectHead, .expect("0123456789"),
      ],
      [
        .expect("HEAD /u/1 HTTP/1.1\r\nHost: a.example\r\nTus-Resumable: 1.0.0\r\n\r\n"),
        .send("HTTP/1.1 200 OK\r\nUpload-Offset: 7\r\nUpload-Length: 10\r\n\r\n"),
        .expectHead, .expect("789"), .send("HTTP/1.1 204 No\r\nUpload-Offset: 10\r\n\r\n"), .readToEnd,
      ])
    #expect(server.finish() == [] && tally.completed == 1 && tally.survived == 1 && tally.again == 3)
  }

  @Test("an offset beyond what was sent, or below what was promised, is wrong")
  func offsets() throws {
    for answer in ["Upload-Offset: 10", "Upload-Offset: -1", "Upload-Offset: 11", "X: 1"] {
      let (tally, server) = try run(
        .interop(6), interruptions: 1, [.expectHead, .send(Self.interim), .readToEnd],
        [.expectHead, .send("HTTP/1.1 204 No\r\n\(answer)\r\n\r\n"), .readToEnd])
      #expect(server.finish() == [] && tally.failures == [.offset: 1], "\(answer)")
    }
  }

  @Test("a server that never tells an upload's URL is told from one that is slow")
  func noURL() throws {
    let silent = try run(.final, interruptions: 1, timeout: 0.1, [.expectHead, .readToEnd])
    #expect(silent.server.finish() == [] && silent.tally.failures == [.uploadURL: 1])
    let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
    let made = try run(.tus, [.expectHead, .send(created), .readToEnd])
    #expect(made.server.finish() == [] && made.tally.failures == [.uploadURL: 1])
  }

  @Test("an answer that says that the upload is not complete is no success")
  func incomplete() throws {
    let answer = "HTTP/1.1 200 OK\r\nUpload-Complete: ?0\r\nContent-Length: 0\r\n\r\n"
    let (tally, server) = try run(.interop(6), [.expectHead, .read(10), .send(answer), .readToEnd])
    #expect(server.finish() == [] && tally.failures == [.incomplete: 1])
  }

  @Test("a conflict is solved by asking")
  func conflict() throws {
    let (tally, server) = try run(
      .tus,
      [
        .expectHead, .send("HTTP/1.1 201 Created\r\nLocation: /u/1\r\nContent-Length: 0\r\n\r\n"), .expectHead,
        .expect("0123456789"), .send("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"), .expectHead,
        .send("HTTP/1.1 200 OK\r\nUpload-Offset: 10\r\n\r\n"), .expectHead,
        .send("HTTP/1.1 204 No\r\nUpload-Offset: 10\r\n\r\n"), .readToEnd,
      ])
    #expect(server.finish() == [] && tally.completed == 1 && tally.exchanges == 4)
  }

  @Test("the test origin's digest is compared with what was sent")
  func digest() throws {
    func answer(_ digest: String) -> String { "HTTP/1.1 200 OK\r\nBench-XXH3: \(digest)\r\nContent-Length: 0\r\n\r\n" }
    let right = try run(.plain, [.expectHead, .read(10), .send(answer(Self.body.digestText)), .readToEnd])
    #expect(right.server.finish() == [] && right.tally.completed == 1 && right.tally.verified == 10)
    let wrong = try run(.plain, [.expectHead, .read(10), .send(answer("0000000000000000")), .readToEnd])
    #expect(wrong.server.finish() == [] && wrong.tally.failures == [.content: 1])
  }
}
