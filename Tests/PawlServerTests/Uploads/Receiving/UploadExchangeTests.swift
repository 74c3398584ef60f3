import PawlTestKit
import Testing

@testable import PawlServer
@testable import PawlUploadStore

@Suite("Uploads by the drafts") struct UploadExchangeTests {
  private static let six = "Upload-Draft-Interop-Version: 6"
  private static let partial = "Content-Type: application/partial-upload"

  @Test(
    "the URL comes before the content is read, and the origin's answer behind it", arguments: Fragmenter.allCases,
    [false, true])
  func whole(_ fragmenter: Fragmenter, slowWrites: Bool) throws {
    let talk = try UploadTalk([5])
    if slowWrites { talk.pawl.expectSlowWrites() }
    let client = talk.pawl.connect()
    client.send(
      talk.head("POST /f?q", [Self.six, "Upload-Complete: ?1", "Expect: 100-continue"], length: 5), fragmenter)
    let told = client.readHead()
    #expect(
      told.hasPrefix(
        "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\nLocation: http://site/.pawl/uploads/"
      ))
    #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("hello", fragmenter)
    let answer = client.readAnswer()
    #expect(answer.status == 200 && answer.text == "done")
    #expect(answer.values("X-App", "Upload-Complete", "Upload-Offset") == ["yes", "?1", "5"])
    #expect(told.contains("Location: http://site\(answer.uploadTarget)\r\n"))
    client.close()
    talk.finish()
    let sent = talk.received()
    #expect(
      sent.hasSuffix("\r\n\r\nhello") && sent.contains("POST /f?q HTTP/1.1\r\n") && !sent.contains("Upload-Complete"))
  }

  @Test(
    "a cut upload goes on where it was, on other connections; the answer is given again to who asks",
    arguments: [false, true])
  func resume(slowWrites: Bool) throws {
    let talk = try UploadTalk([5])
    if slowWrites { talk.pawl.expectSlowWrites() }
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 5) + "he")
    let target = uploadTarget(client.readHead())
    client.close()
    talk.pawl.waitUntil("the bytes are there") { talk.ask("HEAD \(target)", Self.six)["Upload-Offset"] == "2" }
    let state = talk.ask("HEAD \(target)", Self.six)
    #expect(state.status == 204)
    #expect(
      state.values("Upload-Offset", "Upload-Complete", "Upload-Length", "Cache-Control") == [
        "2", "?0", "5", "no-store",
      ])
    let wrong = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?1", content: "hello")
    #expect(wrong.status == 409 && wrong.values("Upload-Offset", "Upload-Complete") == ["2", "?0"])
    let some = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 2", "Upload-Complete: ?0", content: "l")
    #expect(some.status == 201 && some.values("Upload-Offset", "Upload-Complete") == ["3", "?0"])
    let last = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 3", "Upload-Complete: ?1", content: "lo")
    #expect(
      last.status == 200 && last.text == "done" && last.values("Upload-Complete", "Upload-Offset") == ["?1", "5"])
    let again = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 5", "Upload-Complete: ?1", content: "")
    #expect(again.status == 200 && again.text == "done")
    let got = talk.ask("GET \(target)", "Upload-Draft-Interop-Version: 9")
    #expect(got.status == 200 && got.text == "done" && got["Upload-Complete"] == "?1")
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("the last byte is enough, whatever becomes of the connection", arguments: [false, true])
  func cutAfterTheLast(slowWrites: Bool) throws {
    let talk = try UploadTalk([5])
    if slowWrites { talk.pawl.expectSlowWrites() }
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 5) + "hello")
    let target = uploadTarget(client.readHead())
    client.reset()
    talk.pawl.waitFor("upload-answered")
    // Nobody has read the answer: a client of that version is sent to fetch it.
    #expect(talk.ask("HEAD \(target)", Self.six).values("Upload-Offset", "Upload-Complete") == ["5", "?0"])
    let answer = talk.ask(
      "PATCH \(target)", Self.six, Self.partial, "Upload-Offset: 5", "Upload-Complete: ?1", content: "")
    #expect(answer.status == 200 && answer.text == "done")
    talk.pawl.waitUntil("the answer counts as delivered") {
      talk.ask("HEAD \(target)", Self.six)["Upload-Complete"] == "?1"
    }
    talk.finish()
  }

  @Test(
    "where writes are slow nobody but the upload waits for them; it is whole though its client has left meanwhile",
    arguments: [false, true])
  func writesInPool(leaves: Bool) throws {
    let disk = Gate()
    let talk = try UploadTalk([5])
    talk.pawl.expectSlowWrites()
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 5))
    #expect(uploadTarget(client.readHead()) != "")
    talk.pawl.keepPoolBusy(until: disk)
    client.send(leaves ? "hello" : "he")
    // The loop goes on, and has looked at the client's socket when it has answered twice.
    for _ in 0..<2 { #expect(talk.pawl.ask("GET /g HTTP/1.1\r\n\r\n").status == 400) }
    #expect(talk.pawl.onLoop { $0.services.router.all[0].uploads?.store.uploads.first?.state.withLock { $0.end } } == 0)
    if leaves { client.reset() } else { client.send("llo") }
    for _ in 0..<2 { #expect(talk.pawl.ask("GET /g HTTP/1.1\r\n\r\n").status == 400) }
    disk.open()
    if leaves { talk.pawl.waitFor("upload-answered") } else { #expect(client.readAnswer().text == "done") }
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("a newer request ends an older transfer, which is answered by nothing")
  func takeover() throws {
    let talk = try UploadTalk([])
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 5) + "he")
    let target = uploadTarget(client.readHead())
    talk.pawl.waitUntil("the bytes are there") {
      talk.pawl.onLoop { $0.services.router.all[0].uploads?.store.uploads.first?.status.phase == .open } == true
    }
    let state = talk.ask("HEAD \(target)", Self.six)
    #expect(state.status == 204)
    #expect(client.readToEnd().bytes.isEmpty && client.ending == .reset)
    talk.pawl.waitFor("upload-displaced")
    talk.finish()
  }

  @Test("who asks how far it is and is overtaken by what was sent before asks again, once")
  func overtakenLook() throws {
    let (talk, disk) = (try UploadTalk([]), Gate())
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 5) + "he")
    let target = uploadTarget(client.readHead())
    func waitForEnd(_ end: UInt64) {
      talk.pawl.waitUntil("\(end) bytes are there") {
        talk.pawl.onLoop { $0.services.router.all[0].uploads?.store.uploads.first?.state.withLock { $0.end } } == end
      }
    }
    waitForEnd(2)
    talk.pawl.keepPoolBusy(until: disk)
    client.send("l")
    waitForEnd(3)
    // What was told of has to be durable, which takes its time.
    let looks = talk.pawl.connect()
    looks.send(talk.head("HEAD \(target)", [Self.six]))
    #expect(client.readToEnd().bytes.isEmpty)
    let writes = talk.pawl.connect()
    writes.send(talk.head("PATCH \(target)", [Self.six, Self.partial, "Upload-Offset: 3"], length: 2) + "l")
    for _ in 0..<2 { #expect(talk.pawl.ask("GET /g HTTP/1.1\r\n\r\n").status == 400) }
    disk.open()
    waitForEnd(4)
    #expect(looks.isQuiet)
    talk.pawl.clock.advance(by: UploadExchange.lookAgainAfter)
    let answer = looks.readAnswer(isHead: true)
    #expect(answer.status == 204 && answer["Upload-Offset"] == "4")
    #expect(writes.readToEnd().bytes.isEmpty && writes.ending == .reset)
    talk.finish()
  }

  @Test("careful creation, cancellation, and what is gone")
  func cancel() throws {
    let talk = try UploadTalk([])
    let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", content: "")
    #expect(made.status == 201 && made.interim == [] && made["Upload-Offset"] == "0")
    let cancelled = talk.ask("DELETE \(made.uploadTarget)", Self.six)
    #expect(cancelled.status == 204)
    #expect(talk.ask("HEAD \(made.uploadTarget)", Self.six).status == 410)
    #expect(talk.ask("HEAD \(UploadTalk.url)AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", Self.six).status == 404)
    #expect(talk.ask("GET \(UploadTalk.url)x").status == 404)
    talk.finish()
  }

  @Test("content that is not what its digest says leaves the offset where it was", arguments: [false, true])
  func digest(slowWrites: Bool) throws {
    let talk = try UploadTalk([])
    if slowWrites { talk.pawl.expectSlowWrites() }
    let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", content: "")
    func append(_ content: String) -> Answer {
      talk.ask(
        "PATCH \(made.uploadTarget)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?0",
        "Content-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:", content: content)
    }
    let wrong = append("abd")
    #expect(wrong.status == 400 && wrong["Upload-Offset"] == "0")
    #expect(talk.ask("HEAD \(made.uploadTarget)", Self.six)["Upload-Offset"] == "0")
    let right = append("abc")
    #expect(right.status == 201 && right["Upload-Offset"] == "3")
    talk.finish()
  }

  @Test(
    "a digest behind the content that nobody announced is held to: wrong bytes are never an upload, nor gone on behind",
    arguments: ["?0", "?1"])
  func digestBehind(_ complete: String) throws {
    let talk = try UploadTalk(complete == "?1" ? [6] : [])
    func append(_ target: String, _ content: String) -> Answer {
      let client = talk.pawl.connect()
      client.send(
        talk.head(
          "PATCH \(target)",
          [Self.six, Self.partial, "Upload-Offset: 3", "Upload-Complete: \(complete)", "Transfer-Encoding: chunked"])
          + "3\r\n\(content)\r\n0\r\nContent-Digest: sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:\r\n\r\n")
      return client.readAnswer()
    }
    for (content, isRight) in [("abd", false), ("abc", true)] {
      let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", content: "two")
      #expect(made.status == 201)
      let answer = append(made.uploadTarget, content)
      let after = talk.ask("HEAD \(made.uploadTarget)", Self.six)
      guard isRight else {
        #expect(answer.status == 400 && after.status == 410)
        continue
      }
      #expect(answer.status == (complete == "?1" ? 200 : 201))
      #expect(after.status == 204 && after["Upload-Offset"] == "6")
    }
    talk.finish()
    #expect(!talk.received().contains("twoabd") && (complete == "?0" || talk.received().hasSuffix("twoabc")))
  }

  @Test(
    "content beyond the length: the upload stays as it was, or in newer versions is given up",
    arguments: [false, true], [false, true])
  func tooLong(slowWrites: Bool, chunked: Bool) throws {
    let talk = try UploadTalk([])
    if slowWrites { talk.pawl.expectSlowWrites() }
    for (version, after) in [(5, 204), (6, 204), (7, 204), (9, 410)] {
      let field = "Upload-Draft-Interop-Version: \(version)"
      let made = talk.ask("POST /f", field, "Upload-Complete: ?0", "Upload-Length: 4", content: "ab")
      let client = talk.pawl.connect()
      let fields = [field, Self.partial, "Upload-Offset: 2", "Upload-Complete: ?0"]
      client.send(
        chunked
          ? talk.head("PATCH \(made.uploadTarget)", fields + ["Transfer-Encoding: chunked"])
            + "2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n"
          : talk.head("PATCH \(made.uploadTarget)", fields, length: 3) + "cde")
      #expect(client.readAnswer().status == 400, "\(version)")
      client.close()
      let state = talk.ask("HEAD \(made.uploadTarget)", field)
      #expect(state.status == after && state["Upload-Offset"] == (after == 204 ? "2" : nil), "\(version)")
    }
    talk.finish()
  }

  @Test("a part of a tus concatenation takes no end: what says so is refused", arguments: [5, 6, 9], ["", "llo"])
  func endOfPart(version: Int, content: String) throws {
    let talk = try UploadTalk([])
    let tus = ["Tus-Resumable: 1.0.0", "Content-Type: application/offset+octet-stream", "Upload-Concat: partial"]
    let made = talk.ask("POST /f", tus[0], tus[1], tus[2], "Upload-Length: \(2 + content.utf8.count)", content: "he")
    let field = "Upload-Draft-Interop-Version: \(version)"
    let ended = talk.ask(
      "PATCH \(made.uploadTarget)", field, Self.partial, "Upload-Offset: 2", "Upload-Complete: ?1", content: content)
    #expect(ended.status == 400)
    #expect(talk.ask("HEAD \(made.uploadTarget)", tus[0])["Upload-Offset"] == "2")
    let added = talk.ask(
      "PATCH \(made.uploadTarget)", field, Self.partial, "Upload-Offset: 2", "Upload-Complete: ?0", content: content)
    #expect(added.status < 300)
    talk.finish()
  }

  @Test("what is too large is refused before it is read, and the connection lives on where little is left of it")
  func tooLarge() throws {
    let talk = try UploadTalk([], site: "max-upload = 10")
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", [Self.six, "Upload-Complete: ?1"], length: 11))
    let answer = client.readAnswer()
    #expect(answer.status == 413 && answer["Upload-Limit"]?.hasPrefix("max-size=10, ") == true)
    client.send("hello world" + talk.head("OPTIONS \(UploadTalk.url)x", []))
    #expect(client.readAnswer().status == 200)
    client.close()
    talk.finish()
  }

  @Test("a stranger finds nothing; the owner comes back with a fresh token, and the origin is given that")
  func owner() throws {
    let talk = try UploadTalk([5], site: "owner = authorization")
    // {"iss":"i","sub":"a"} and the same with an expiry
    let first = "Authorization: Bearer e30.eyJpc3MiOiJpIiwic3ViIjoiYSJ9.x"
    let fresh = "Authorization: Bearer e30.eyJpc3MiOiJpIiwic3ViIjoiYSIsImV4cCI6MX0.y"
    let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", first, content: "")
    for method in ["HEAD", "GET", "DELETE"] {
      #expect(talk.ask("\(method) \(made.uploadTarget)", Self.six).status == 404, "\(method)")
      #expect(talk.ask("\(method) \(made.uploadTarget)", Self.six, "Authorization: Basic eDp5").status == 404)
    }
    #expect(talk.ask("OPTIONS \(made.uploadTarget)").status == 200)
    let last = talk.ask(
      "PATCH \(made.uploadTarget)", Self.six, Self.partial, "Upload-Offset: 0", "Upload-Complete: ?1", fresh,
      content: "hello")
    #expect(last.status == 200)
    talk.finish()
    let sent = talk.received().split(separator: "POST /f HTTP/1.1").last ?? ""
    #expect(sent.contains(fresh) && !sent.contains(first))
  }

  @Test("an answer that breaks off is cut for who waits and for who asks again", arguments: [6, 9], [10, nil])
  func brokenAnswer(_ version: Int, _ length: Int?) throws {
    let framing =
      length.map { "Content-Length: \($0)\r\n\r\nhalf" } ?? "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
    let talk = try UploadTalk(scripts: [
      UploadTalk.probe, [.expectHead, .read(5), .send("HTTP/1.1 200 OK\r\nX-App: yes\r\n" + framing)],
    ])
    let fields = ["Upload-Draft-Interop-Version: \(version)", "Upload-Complete: ?1"]
    let client = talk.pawl.connect()
    client.send(talk.head("POST /f", fields, length: 5) + "hello")
    let first = client.readAnswer()
    let again = talk.ask(
      "PATCH \(first.uploadTarget)", fields[0], fields[1], Self.partial, "Upload-Offset: 5", content: "")
    for answer in [first, again] {
      #expect(answer.status == 200 && answer.text == "half" && !answer.isWhole)
      #expect(answer.values("X-App", "Upload-Complete", "Upload-Offset") == ["yes", "?1", "5"])
      #expect(answer["Content-Length"] == length.map(String.init))
    }
    let state = talk.ask("HEAD \(first.uploadTarget)", fields[0])
    #expect(state.values("Upload-Complete", "Upload-Offset") == ["?1", "5"])
    talk.finish()
  }

  @Test("no log knows the token, and no Referer takes it to the origin")
  func secrecy() throws {
    let talk = try UploadTalk([])
    let made = talk.ask("POST /f", Self.six, "Upload-Complete: ?0", content: "")
    let token = made.uploadTarget.dropFirst(UploadTalk.url.count)
    #expect(token.count == 32)
    #expect(talk.ask("HEAD \(made.uploadTarget)", Self.six, "Referer: http://site\(made.uploadTarget)").status == 204)
    talk.pawl.waitUntil("both are logged") { talk.pawl.accessLog.count == 2 }
    #expect(!talk.pawl.accessLog.joined().contains(token))
    #expect(talk.pawl.accessLog[1].contains("\"target\":\"\(UploadTalk.url)~"))
    #expect(!talk.pawl.events("upload-created").joined().contains(token))
    talk.finish()
  }
}
