import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Uploads by tus 1.0.0") struct UploadExchangeTusTests {
  private static let tus = "Tus-Resumable: 1.0.0"
  private static let type = "Content-Type: application/offset+octet-stream"

  @Test("chunks, a checksum behind the content, a wrong one, the origin's answer as tus can say it")
  func chunks() throws {
    let talk = try UploadTalk([5])
    let made = talk.ask("POST /files", Self.tus, "Upload-Length: 5", "Upload-Metadata: filename YQ==", content: "")
    #expect(made.status == 201 && made.interim == [])
    let target = made.uploadTarget
    #expect(talk.ask("HEAD \(target)", Self.tus).values("Upload-Offset", "Upload-Metadata") == ["0", "filename YQ=="])
    let first = talk.ask("PATCH \(target)", Self.tus, Self.type, "Upload-Offset: 0", content: "he")
    #expect(first.status == 204 && first["Upload-Offset"] == "2")
    let wrong = talk.ask(
      "PATCH \(target)", Self.tus, Self.type, "Upload-Offset: 2", "Upload-Checksum: crc32 AAAAAA==", content: "l")
    #expect(wrong.status == 460 && talk.ask("HEAD \(target)", Self.tus)["Upload-Offset"] == "2")
    let client = talk.pawl.connect()
    client.send(
      talk.head(
        "PATCH \(target)",
        [Self.tus, Self.type, "Upload-Offset: 2", "Trailer: Upload-Checksum", "Transfer-Encoding: chunked"])
        + "3\r\nllo\r\n0\r\nUpload-Checksum: md5 NXxbTFDZQ1dXeBvHmiwbSA==\r\n\r\n")
    #expect(client.readAnswer().status == 460)
    client.close()
    let last = talk.ask(
      "POST \(target)", "X-HTTP-Method-Override: PATCH", Self.tus, Self.type, "Upload-Offset: 2", content: "llo")
    #expect(last.status == 204 && last.values("Upload-Offset", "Pawl-Origin-Status", "X-App") == ["5", "200", "yes"])
    let answer = talk.ask("GET \(target)", Self.tus)
    #expect(answer.status == 200 && answer.text == "done")
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test(
    "content beyond the length is refused, and the upload goes on where it was", arguments: [false, true],
    ["llx!", "4\r\nllx!\r\n0\r\n\r\n", "3\r\nllx\r\n1\r\n!\r\n0\r\n\r\n"])
  func tooLong(slowWrites: Bool, content: String) throws {
    let talk = try UploadTalk([5])
    if slowWrites { talk.pawl.expectSlowWrites() }
    let made = talk.ask("POST /files", Self.tus, Self.type, "Upload-Length: 5", content: "he")
    let fields = [Self.tus, Self.type, "Upload-Offset: 2"]
    let client = talk.pawl.connect()
    let line = "PATCH \(made.uploadTarget)"
    let chunked = "Transfer-Encoding: chunked"
    let head = content.count == 4 ? talk.head(line, fields, length: 4) : talk.head(line, fields + [chunked])
    client.send(head + content)
    #expect(client.readAnswer().status == 413)
    client.close()
    #expect(talk.ask("HEAD \(made.uploadTarget)", Self.tus)["Upload-Offset"] == "2")
    #expect(talk.ask(line, Self.tus, Self.type, "Upload-Offset: 2", content: "llo").status == 204)
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("a length that the same request exceeds is not declared by it")
  func contradictedLength() throws {
    let talk = try UploadTalk([5])
    let made = talk.ask("POST /files", Self.tus, "Upload-Defer-Length: 1", content: "")
    let target = made.uploadTarget
    func patch(_ length: String) -> Int {
      let answer = talk.ask(
        "PATCH \(target)", Self.tus, Self.type, "Upload-Offset: 0", "Upload-Length: \(length)", content: "hello")
      return answer.status
    }
    #expect(patch("4") == 413)
    #expect(talk.ask("HEAD \(target)", Self.tus).values("Upload-Offset", "Upload-Defer-Length") == ["0", "1"])
    #expect(patch("5") == 204)
    talk.finish()
  }

  @Test("an empty Upload-Metadata says nothing, and nothing is told of it", arguments: ["", " "])
  func emptyMetadata(_ value: String) throws {
    let talk = try UploadTalk([5])
    let made = talk.ask("POST /files", Self.tus, "Upload-Length: 5", "Upload-Metadata: \(value)", content: "")
    #expect(made.status == 201)
    #expect(talk.ask("HEAD \(made.uploadTarget)", Self.tus)["Upload-Metadata"] == nil)
    let last = talk.ask("PATCH \(made.uploadTarget)", Self.tus, Self.type, "Upload-Offset: 0", content: "hello")
    #expect(last.status == 204)
    talk.finish()
  }

  @Test("parts are joined, and joined again are the same upload")
  func concatenation() throws {
    let talk = try UploadTalk([10])
    let parts = ["hello", "world"].map { part in
      talk.ask("POST /files", Self.tus, Self.type, "Upload-Length: 5", "Upload-Concat: partial", content: part)
    }
    #expect(parts.allSatisfy { $0.status == 201 && $0["Upload-Offset"] == "5" })
    let open = talk.ask("POST /files", Self.tus, "Upload-Length: 5", "Upload-Concat: partial", content: "")
    func join(_ parts: [Answer]) -> Answer {
      let urls = parts.map { "http://site\($0.uploadTarget)" }.joined(separator: " ")
      return talk.ask("POST /files", Self.tus, "Upload-Concat: final;\(urls)", content: "")
    }
    #expect(join(parts + [open]).status == 400)
    let (first, second) = (join(parts), join(parts))
    #expect(first.status == 201 && second.status == 201 && first.uploadTarget == second.uploadTarget)
    #expect(
      talk.ask("PATCH \(first.uploadTarget)", Self.tus, Self.type, "Upload-Offset: 0", content: "x").status == 403)
    #expect(talk.ask("HEAD \(parts[0].uploadTarget)", Self.tus)["Upload-Offset"] == "5")
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhelloworld"))
  }

  @Test("while the origin decides nobody is told offset = length; refused is gone")
  func undecided() throws {
    let gate = Gate()
    let talk = try UploadTalk(scripts: [
      UploadTalk.probe,
      [
        .expectHead, .read(5), .wait(gate),
        .send("HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\nno"), .readToEnd,
      ],
    ])
    let client = talk.pawl.connect()
    client.send(talk.head("POST /files", [Self.tus, Self.type, "Upload-Length: 5"], length: 5) + "hello")
    talk.pawl.waitFor("upload-forwarding")
    talk.pawl.waitUntil("all was sent") { talk.received().hasSuffix("hello") }
    talk.pawl.clock.advance(by: .seconds(50))
    let made = client.readAnswer()
    #expect(made.status == 201 && made["Upload-Offset"] == nil)
    client.close()
    let target = made.uploadTarget
    #expect(talk.ask("HEAD \(target)", Self.tus).values("Retry-After", "Upload-Offset") == ["5", "-"])
    #expect(talk.ask("HEAD \(target)", Self.tus).status == 423)
    #expect(talk.ask("PATCH \(target)", Self.tus, Self.type, "Upload-Offset: 5", content: "").status == 423)
    gate.open()
    talk.pawl.waitFor("upload-answered")
    #expect(talk.ask("HEAD \(target)", Self.tus).status == 410)
    let answer = talk.ask("GET \(target)", Self.tus)
    #expect(answer.status == 422 && answer.text == "no")
    talk.finish()
  }

  @Test("browsers of allowed origins read every answer, errors too")
  func cors() throws {
    let talk = try UploadTalk([], site: "cors = https://app.example")
    let origin = "Origin: https://app.example"
    let answers = [
      talk.ask("HEAD \(UploadTalk.url)x", Self.tus, origin), talk.ask("POST /files", Self.tus, origin, content: ""),
      talk.ask("POST /files", "Tus-Resumable: 0.1", origin, content: ""),
      talk.ask("OPTIONS \(UploadTalk.url)x", origin, "Access-Control-Request-Method: PATCH"),
    ]
    #expect(answers.map(\.status) == [404, 400, 412, 200])
    for answer in answers { #expect(answer["Access-Control-Allow-Origin"] == "https://app.example") }
    #expect(answers[3]["Access-Control-Allow-Methods"]?.contains("PATCH") == true)
    #expect(talk.ask("HEAD \(UploadTalk.url)x", Self.tus)["Access-Control-Allow-Origin"] == nil)
    talk.finish()
  }
}
