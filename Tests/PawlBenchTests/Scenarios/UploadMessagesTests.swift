import Testing

@testable import PawlBench

@Suite("An upload's messages, byte by byte") struct UploadMessagesTests {
  private func messages(_ dialect: UploadPlan.Dialect) throws -> UploadMessages {
    var settings = RunSettings(scenario: .idle, target: try Target("http://a.example/in"))
    settings.fields = [("Authorization", "Bearer x")]
    return UploadMessages(
      maker: RequestMaker(settings), plan: UploadPlan(dialect: dialect, size: 10, interruptions: 0))
  }

  private func text(_ request: RequestText) -> [String] {
    let text = String(decoding: request.bytes, as: UTF8.self)
    guard text.hasSuffix("\r\n\r\n") else { return ["no end"] }
    return text.dropLast(2).split(separator: "\r\n").map(String.init)
  }

  private static let place = UploadPlace("/u/1")

  @Test("plain: a request like any other")
  func plain() throws {
    let creation = try messages(.plain).creation()
    #expect(
      text(creation) == [
        "POST /in HTTP/1.1", "Host: a.example", "Authorization: Bearer x", "Content-Type: application/octet-stream",
        "Content-Length: 10",
      ])
    #expect(creation.content == 0..<10 && !creation.isRepeatable)
  }

  @Test("RUFH: every interop version spells completeness and appends its own way", arguments: 3...10)
  func interop(_ version: Int) throws {
    let messages = try messages(.interop(version))
    let version_ = "Upload-Draft-Interop-Version: \(version)"
    let complete = version == 3 ? "Upload-Incomplete: ?0" : "Upload-Complete: ?1"
    #expect(
      text(messages.creation()) == [
        "POST /in HTTP/1.1", "Host: a.example", "Authorization: Bearer x", "Content-Type: application/octet-stream",
        version_, complete, "Content-Length: 10",
      ])
    let place = try #require(Self.place)
    let question = messages.question(place)
    #expect(text(question) == ["HEAD /u/1 HTTP/1.1", "Host: a.example", "Authorization: Bearer x", version_])
    #expect(question.isHead && question.isRepeatable)
    let append = messages.append(place, from: 4)
    let type = version >= 6 ? ["Content-Type: application/partial-upload"] : []
    #expect(
      text(append) == ["PATCH /u/1 HTTP/1.1", "Host: a.example", "Authorization: Bearer x"] + type
        + ["Upload-Offset: 4", version_, complete, "Content-Length: 6"])
    #expect(append.content == 4..<10)
  }

  @Test("RUFH as the RFC will be: without a version")
  func final() throws {
    let messages = try messages(.final)
    let place = try #require(UploadPlace("https://b.example:8443/u?1"))
    #expect(
      text(messages.creation()).suffix(3) == [
        "Content-Type: application/octet-stream", "Upload-Complete: ?1", "Content-Length: 10",
      ])
    #expect(
      text(messages.question(place)) == ["HEAD /u?1 HTTP/1.1", "Host: b.example:8443", "Authorization: Bearer x"])
    #expect(
      text(messages.append(place, from: 10)).suffix(4) == [
        "Content-Type: application/partial-upload", "Upload-Offset: 10", "Upload-Complete: ?1", "Content-Length: 0",
      ])
  }

  @Test("tus: an empty creation, then the content")
  func tus() throws {
    let messages = try messages(.tus)
    let place = try #require(Self.place)
    let creation = messages.creation()
    #expect(
      text(creation) == [
        "POST /in HTTP/1.1", "Host: a.example", "Authorization: Bearer x", "Tus-Resumable: 1.0.0", "Upload-Length: 10",
        "Content-Length: 0",
      ])
    #expect(creation.content.isEmpty)
    #expect(text(messages.question(place)).last == "Tus-Resumable: 1.0.0")
    #expect(
      text(messages.append(place, from: 0)).dropFirst(3)
        == [
          "Content-Type: application/offset+octet-stream", "Upload-Offset: 0", "Tus-Resumable: 1.0.0",
          "Content-Length: 10",
        ][...])
  }

  @Test("a final answer must not contradict a complete upload")
  func complete() throws {
    let rows: [(UploadPlan.Dialect, String, Bool)] = [
      (.plain, "HTTP/1.1 201 Created\r\n\r\n", true), (.plain, "HTTP/1.1 302 Found\r\n\r\n", false),
      (.interop(6), "HTTP/1.1 200 OK\r\nUpload-Complete: ?1\r\nUpload-Offset: 10\r\n\r\n", true),
      (.interop(6), "HTTP/1.1 200 OK\r\n\r\n", true),
      (.interop(6), "HTTP/1.1 200 OK\r\nUpload-Complete: ?0\r\n\r\n", false),
      (.interop(6), "HTTP/1.1 200 OK\r\nUpload-Offset: 9\r\n\r\n", false),
      (.tus, "HTTP/1.1 204 No\r\nUpload-Offset: 10\r\n\r\n", true),
      (.tus, "HTTP/1.1 204 No\r\nUpload-Offset: 11\r\n\r\n", false), (.tus, "HTTP/1.1 204 No\r\n\r\n", false),
      (.tus, "HTTP/1.1 204 No\r\nUpload-Offset: 10\r\nPawl-Origin-Status: 500\r\n\r\n", false),
    ]
    for (dialect, answer, isComplete) in rows {
      let bytes = Array(answer.utf8)
      guard case .head(let head, _) = AnswerHead.parse(bytes.span) else {
        Issue.record("\(answer)")
        continue
      }
      #expect(try messages(dialect).isComplete(head, bytes.span) == isComplete, "\(dialect) \(answer)")
    }
  }

  @Test("an upload's URL is a path or absolute")
  func places() {
    #expect(UploadPlace("http://b.example/x")?.authority == "b.example")
    #expect(UploadPlace("/x?y")?.path == "/x?y")
    for text in ["", "x", "//b.example/x", "ftp://b/x"] { #expect(UploadPlace(text) == nil) }
  }
}
