import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Uploads whose content still comes when the server drains", .timeLimit(.minutes(1)))
struct UploadExchangeEndingTests {
  /// Sends the head of a request and two bytes of its content, which the upload has taken when this returns.
  private func begin(_ talk: UploadTalk, _ line: String, _ fields: [String], _ content: String) -> ScriptedClient {
    let client = talk.pawl.connect()
    client.send(talk.head(line, fields + ["Expect: 100-continue"], length: 5))
    while !client.readHead().hasPrefix("HTTP/1.1 100 ") {}
    client.send(content)
    talk.pawl.settle()
    return client
  }

  /// Drains the server; the client has ended its side.
  private func end(_ talk: UploadTalk, _ client: ScriptedClient, _ drained: Gate) {
    client.close()
    #expect(drained.wait())
    let events = talk.pawl.events("upload-ended-early")
    #expect(events.count == 1 && events.first?.contains("offset=2 ") == true)
    talk.finish()
  }

  private func drain(_ talk: UploadTalk) -> Gate {
    let drained = Gate()
    talk.pawl.server.drain { drained.open() }
    return drained
  }

  @Test("since version 9: 503 with the synced offset, as an answer of the protocol")
  func nine() throws {
    let talk = try UploadTalk([])
    let client = begin(talk, "POST /f", ["Upload-Draft-Interop-Version: 9", "Upload-Complete: ?1"], "he")
    let drained = drain(talk)
    let answer = client.readAnswer()
    #expect(answer.status == 503)
    #expect(
      answer.values("Upload-Complete", "Upload-Offset", "Retry-After", "Connection") == ["?0", "2", "1", "close"])
    end(talk, client, drained)
  }

  @Test("up to version 8 the connection is cut; the bytes are synced", arguments: [3, 6, 8])
  func earlier(_ version: Int) throws {
    let talk = try UploadTalk([])
    let complete = version == 3 ? "Upload-Incomplete: ?0" : "Upload-Complete: ?1"
    let client = begin(talk, "POST /f", ["Upload-Draft-Interop-Version: \(version)", complete], "he")
    let drained = drain(talk)
    #expect(!String(decoding: client.readToEnd().0, as: UTF8.self).contains("HTTP/1.1 5"))
    end(talk, client, drained)
  }

  private static let tus = ["Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream"]

  @Test("tus: a creation gets 201 with its URL and offset, from where the client goes on")
  func tusCreation() throws {
    let talk = try UploadTalk([])
    let client = begin(talk, "POST /f", Self.tus + ["Upload-Length: 5"], "he")
    let drained = drain(talk)
    let answer = client.readAnswer()
    #expect(answer.status == 201)
    #expect(answer.values("Upload-Offset", "Connection") == ["2", "close"] && !answer.uploadTarget.isEmpty)
    end(talk, client, drained)
  }

  @Test("tus: an append gets 503 with the offset")
  func tusAppend() throws {
    let talk = try UploadTalk([])
    let target = talk.ask("POST /f", Self.tus[0], "Upload-Length: 5").uploadTarget
    let client = begin(talk, "PATCH \(target)", Self.tus + ["Upload-Offset: 0"], "he")
    let drained = drain(talk)
    let answer = client.readAnswer()
    #expect(answer.status == 503)
    #expect(answer.values("Upload-Offset", "Retry-After", "Connection") == ["2", "1", "close"])
    end(talk, client, drained)
  }

  @Test("content with a checksum counts only as a whole: none of it is kept")
  func checksum() throws {
    let talk = try UploadTalk([])
    let target = talk.ask("POST /f", Self.tus[0], "Upload-Length: 5").uploadTarget
    let checksum = "Upload-Checksum: sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00="
    let client = begin(talk, "PATCH \(target)", Self.tus + ["Upload-Offset: 0", checksum], "he")
    let drained = drain(talk)
    let answer = client.readAnswer()
    #expect(answer.status == 503 && answer.values("Upload-Offset") == ["0"])
    client.close()
    #expect(drained.wait())
    talk.finish()
  }

  @Test("when a new process takes over, a new upload in one request goes straight on to the application")
  func replaced() throws {
    let answered = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"
    // The connection of the probe serves the request, too.
    let steps = [.expectHead, UploadTalk.noOptions, .expectHead, .read(5), .send(answered), .readToEnd]
    let talk = try UploadTalk(scripts: [steps])
    let client = talk.pawl.connect()
    talk.pawl.waitUntil("it is there") { talk.pawl.onLoop { $0.connections.members.count } == 1 }
    talk.pawl.onLoop { $0.beginHandOver() }
    client.send(talk.head("POST /f", ["Upload-Draft-Interop-Version: 9", "Upload-Complete: ?1"], length: 5) + "hello")
    let answer = client.readAnswer()
    #expect(answer.status == 200 && answer.interim.isEmpty && answer.values("Connection") == ["close"])
    #expect(talk.received().hasSuffix("\r\n\r\nhello") && !talk.received().contains("Upload-"))
    client.close()
    talk.finish()
  }
}
