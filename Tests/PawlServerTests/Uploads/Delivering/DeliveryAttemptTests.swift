import PawlCache
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A completed upload on its way to its origin") struct DeliveryAttemptTests {
  @Test("becomes one ordinary request, and its answer is kept", arguments: [1, 2, 100, 6 << 20])
  func delivered(_ count: Int) throws {
    let bytes = OriginStep.pattern(from: 0, count: count)
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(count), .send(created), .readToEnd]))
    let upload = try bench.complete(
      bytes,
      [
        (.contentType, "image/png"), (.uploadComplete, "?1"), (.uploadDraftInteropVersion, "6"), (.cookie, "a=b"),
        (.xRequestID, "r"), (.expect, "100-continue"), (.connection, "keep-alive"),
      ])
    bench.attempt(upload)
    #expect(upload.status.phase == .answered)
    let answer = try #require(upload.answer)
    #expect(answer.status == 201 && answer.body == Array("ok".utf8) && !answer.isTruncated)
    #expect(answer.fields.description == "Content-Type: a/b\r\n")
    #expect(bench.finish() == [])
    #expect(
      bench.head() == [
        "POST /f HTTP/1.1", "Host: site", "Content-Length: \(count)", "Content-Type: image/png", "Cookie: a=b",
        "X-Request-Id: r",
        "X-Pawl-Upload-Id: \(upload.id.hex)", "Idempotency-Key: \"\(upload.id.hex)\"", "X-Forwarded-For: 192.0.2.9",
        "X-Forwarded-Proto: http", "X-Forwarded-Host: site", "X-Forwarded-Port: 8080", "X-Real-IP: 192.0.2.9",
        "Via: 1.1 pawl",
      ])
    #expect(bench.body() == bytes)
  }

  @Test("the last byte goes when the journal has it; an origin that breaks before is tried again")
  func beforeTheLast() throws {
    let bytes = OriginStep.pattern(from: 0, count: 1000)
    let (broken, written, gate) = (Gate(), Gate(), Gate())
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp, [.expectHead, .read(500), .open(broken), .reset],
        [.expectHead, .read(999), .open(gate), .read(1), .send(created)]))
    let upload = try bench.complete(bytes)
    bench.holdJournal(until: written)
    bench.deliver(upload)
    bench.bench.turn { broken.isOpen && upload.isBeingRecorded }
    bench.turnSome()
    written.open()
    bench.settle(upload, after: 0)
    #expect(upload.status.phase == .complete)
    #expect(upload.lastError?.hasPrefix("connection_terminated") == true && upload.nextAttempt != nil)
    bench.clock.advance(by: .seconds(2))
    bench.bench.turn { upload.status.phase == .answered }
    #expect(gate.isOpen)
    _ = bench.finish()
  }

  @Test("each delivery has a connection of its own, though one that was idle would be there")
  func fresh() throws {
    let answered: [OriginStep] = [.expectHead, .read(5), .send(created), .readToEnd]
    let bench = try UploadBench(ScriptedOrigin(.tcp, answered, answered))
    for number in 1...2 {
      bench.attempt(try bench.complete(Array("hello".utf8)))
      #expect(bench.origin?.acceptedCount == number)
    }
    #expect(bench.finish() == [])
  }

  @Test("what the origin said is told when it is on record that the upload is not with it", arguments: [401, 429, 503])
  func recordedFirst(_ status: Int) throws {
    let (sent, goOn) = (Gate(), Gate())
    let refusal = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(5), .open(sent), .wait(goOn), .send(refusal), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8))
    bench.deliver(upload)
    bench.bench.turn { sent.isOpen }
    let catalogue = UploadBench.breakCatalogue(bench.store)
    goOn.open()
    bench.waitFor("upload-record-failed")
    #expect(upload.status.phase == .sent && upload.lastRefusal == nil)
    bench.repair(catalogue)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { upload.status.phase == .complete && bench.bench.serverLoop.uploads.queue.running.isEmpty }
    #expect(upload.lastRefusal?.answer.status == status && upload.attempts == 1)
    _ = bench.finish()
  }

  @Test("pawl ends before the last byte went: the upload is complete, whatever the journal said")
  func cutBefore() throws {
    let gate = Gate()
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .readToEnd]))
    let upload = try bench.complete(OriginStep.pattern(from: 0, count: 1000))
    bench.holdJournal(until: gate)
    bench.deliver(upload)
    bench.bench.turn { upload.isBeingRecorded }
    bench.bench.loop.nextTurn { bench.bench.serverLoop.uploads.queue.stop() }
    bench.bench.turn { bench.bench.serverLoop.uploads.queue.running.isEmpty }
    gate.open()
    bench.bench.turn { upload.status.phase == .complete && upload.attempts == 1 }
    #expect(upload.lastError == "pawl ended before the last byte was sent")
    _ = bench.finish()
  }

  @Test("an origin that breaks after the last byte leaves it unknown, or is asked again", arguments: [false, true])
  func afterTheLast(isAgain: Bool) throws {
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(5)], [.expectHead, .read(5), .send(created), .readToEnd]),
      site: isAgain ? "delivery = at-least-once" : "")
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    if isAgain {
      #expect(upload.status.phase == .complete && upload.attempts == 1)
      bench.clock.advance(by: .seconds(2))
      bench.bench.turn { upload.status.phase == .answered }
    } else {
      #expect(upload.status.phase == .unknown && upload.lastError?.hasPrefix("connection_terminated") == true)
      bench.clock.advance(by: .seconds(60))
      #expect(bench.origin?.acceptedCount == 1)
    }
    _ = bench.finish()
  }

  @Test("an origin that is down is tried until it is there")
  func down() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    bench.deliver(upload)
    for attempt in 1...6 {
      bench.settle(upload, after: attempt - 1)
      #expect(upload.status.phase == .complete && upload.attempts == attempt)
      #expect(upload.lastError?.hasPrefix("connection_refused") == true)
      bench.clock.advance(by: .seconds(17))
    }
    _ = bench.finish()
  }

  @Test("401 waits for the client and goes with its new credentials; its answer is handed over")
  func unauthorized() throws {
    let refusal = "HTTP/1.1 401 Who\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\n\r\nno"
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp, [.expectHead, .read(5), .send(refusal), .readToEnd], [.expectHead, .read(5), .send(created), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8), [(.authorization, "Bearer old")])
    bench.attempt(upload)
    #expect(upload.status.phase == .complete && upload.nextAttempt == nil)
    let last = try #require(upload.lastRefusal)
    #expect(last.attempt == 1 && last.answer.status == 401 && last.answer.body == Array("no".utf8))
    #expect(last.answer.fields.description == "WWW-Authenticate: Bearer\r\n")
    bench.clock.advance(by: .seconds(1000))
    bench.bench.turn { true }
    upload.refreshCredentials(Fields([(.authorization, "Bearer new")]))
    bench.attempt(upload)
    #expect(upload.status.phase == .answered)
    #expect(bench.finish() == [])
    #expect(bench.head(0).contains("Authorization: Bearer old") && bench.head(1).contains("Authorization: Bearer new"))
  }

  @Test(
    "429 and 503 are tried again when the origin said, and not within a minute", arguments: [(429, 120), (503, 60)])
  func unavailable(_ status: Int, _ wait: Int64) throws {
    let field = wait == 60 ? "" : "Retry-After: \(wait)\r\n"
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp, [.expectHead, .read(5), .send("HTTP/1.1 \(status) No\r\n\(field)Content-Length: 0\r\n\r\n"), .readToEnd],
        [.expectHead, .read(5), .send(created), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    #expect(upload.status.phase == .complete)
    #expect(upload.nextAttempt == bench.clock.wallSeconds() + wait)
    #expect(upload.lastRefusal?.answer.status == status)
    bench.clock.advance(by: .seconds(wait))
    bench.bench.turn { upload.status.phase == .answered }
    _ = bench.finish()
  }

  @Test("without content the journal comes before the head")
  func empty() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .send(created), .readToEnd]))
    let upload = try bench.complete([], method: .put)
    bench.attempt(upload)
    #expect(upload.status.phase == .answered)
    #expect(bench.finish() == [])
    #expect(bench.head().contains("Content-Length: 0") && bench.body() == [])
  }

  private func form(_ boundary: some StringProtocol) -> String {
    """
    --\(boundary)\r
    Content-Disposition: form-data; name="title"\r
    \r
    hi\r
    --\(boundary)\r
    Content-Disposition: form-data; name="upload"; filename="ü.png"\r
    Content-Type: image/png\r
    \r
    hello\r
    --\(boundary)--\r

    """
  }

  @Test("a form is sent byte for byte; nothing of what ends it goes before the journal")
  func form() throws {
    let count = form(String(repeating: "x", count: 36)).utf8.count
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp, [.expectHead, .readToEnd], [.expectHead, .read(count), .send(created), .readToEnd]),
      site: "tus-forward = multipart\ntus-field = upload\ntus-form = title={title}")
    // name: ü.png, type: image/png, title: hi
    let upload = try bench.complete(
      Array("hello".utf8), [(.tusResumable, "1.0.0"), (.uploadLength, "5")],
      metadata: "filename w7wucG5n,filetype aW1hZ2UvcG5n,title aGk=")
    let catalogue = UploadBench.breakCatalogue(bench.store)
    bench.attempt(upload)
    #expect(upload.status.phase == .complete && upload.lastError == "the journal could not be written")
    bench.repair(catalogue)
    bench.attempt(upload)
    #expect(upload.status.phase == .answered)
    _ = bench.finish()
    let boundaries = try (0...1).map { number in
      let type = bench.head(number).first { $0.hasPrefix("Content-Type: multipart/form-data; boundary=") }
      return try #require(type).split(separator: "=")[1]
    }
    let (whole, end) = (form(boundaries[0]), "\r\n--\(boundaries[0])--\r\n")
    #expect(bench.body(0) == Array(whole.utf8.dropLast(end.utf8.count)))
    #expect(String(decoding: bench.body(1), as: UTF8.self) == form(boundaries[1]))
  }

  @Test("bytes that are not those of Repr-Digest never go")
  func wrongDigest() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead]))
    let upload = try bench.complete(
      Array("abd".utf8), [(.reprDigest, "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")])
    bench.attempt(upload)
    #expect(upload.status.phase == .invalid)
    #expect(bench.origin?.acceptedCount == 0)
    _ = bench.finish()
  }

  @Test("an answer before the end of the request is the answer")
  func early() throws {
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno"), .readToEnd]))
    let upload = try bench.complete(OriginStep.pattern(from: 0, count: 16 << 20))
    bench.attempt(upload)
    #expect(upload.status.phase == .answered && upload.answer?.status == 413)
    #expect(upload.answer?.body == Array("no".utf8))
    #expect(bench.finish() == [])
  }

  @Test("a success before the end of the request counts when the request is whole", arguments: [200, 303])
  func earlySuccess(_ status: Int) throws {
    let count = 16 << 20
    let answer = "HTTP/1.1 \(status) Fine\r\nContent-Length: 2\r\n\r\nok"
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(1000), .send(answer), .read(count - 1000), .readToEnd]))
    let bytes = OriginStep.pattern(from: 0, count: count)
    let upload = try bench.complete(bytes)
    bench.attempt(upload)
    #expect(upload.status.phase == .answered && upload.answer?.status == status)
    #expect(upload.answer?.body == Array("ok".utf8) && upload.answer?.isTruncated == false)
    #expect(bench.finish() == [])
    #expect(bench.body() == bytes)
  }

  @Test(
    "a success of an origin that never has all leaves it unknown, with that answer, and is not asked again",
    arguments: ["at-most-once", "at-least-once"])
  func takenInPart(_ delivery: String) throws {
    let gate = Gate()
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(1000), .send(created), .wait(gate), .reset]),
      site: "delivery = \(delivery)")
    let upload = try bench.complete(OriginStep.pattern(from: 0, count: 16 << 20))
    bench.deliver(upload)
    // On record before anything else may happen.
    bench.bench.turn { upload.status.phase == .sent && upload.status.originStatus == 201 }
    gate.open()
    bench.settle(upload, after: 0)
    #expect(upload.status.phase == .unknown && upload.status.originStatus == 201)
    #expect(upload.lastError == "the origin answered 201 before it had all")
    #expect(upload.keptAnswer?.status == 201 && upload.keptAnswer?.body == Array("ok".utf8))
    bench.clock.advance(by: .seconds(60))
    bench.turnSome()
    #expect(bench.origin?.acceptedCount == 1)
    _ = bench.finish()
  }

  @Test("a success that breaks off before the request was whole is none: the upload is sent again")
  func brokenSuccess() throws {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    let count = 16 << 20
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp, [.expectHead, .read(1000), .send(half), .reset],
        [.expectHead, .read(count), .send(created), .readToEnd]))
    let upload = try bench.complete(OriginStep.pattern(from: 0, count: count))
    bench.attempt(upload)
    #expect(upload.status.phase == .complete && upload.attempts == 1)
    bench.clock.advance(by: .seconds(2))
    bench.bench.turn { upload.status.phase == .answered }
    _ = bench.finish()
  }

  @Test("a long answer is there whole for the client that waits, and for a minute")
  func longAnswer() throws {
    let count = 3000
    let bench = try UploadBench(
      ScriptedOrigin(
        .tcp,
        [
          .expectHead, .read(5), .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
          .sendPattern(count: count), .readToEnd,
        ]), site: "response-max = 1K")
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    #expect(upload.answer?.isTruncated == true && upload.answer?.body == [])
    let uploads = bench.bench.serverLoop.uploads
    #expect(DeliveryAttempt.oversizedResponse(of: upload, in: uploads)?.count == UInt64(count))
    bench.clock.advance(by: .seconds(60))
    bench.bench.turn { DeliveryAttempt.oversizedResponse(of: upload, in: uploads) == nil }
    _ = bench.finish()
  }

  @Test(
    "an answer that breaks off settles the upload, and what came of it is kept as a beginning",
    arguments: [false, true])
  func brokenAnswer(_ isChunked: Bool) throws {
    let framing = isChunked ? "Transfer-Encoding: chunked\r\n\r\n4\r\n" : "Content-Length: 10\r\n\r\n"
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(5), .send("HTTP/1.1 200 OK\r\nX-A: b\r\n\(framing)half"), .reset]))
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    #expect(upload.status.phase == .answered && upload.status.originStatus == 200)
    let answer = try #require(upload.answer)
    #expect(answer.isTruncated)
    #expect(answer.body == Array("half".utf8) || answer.body.isEmpty)
    #expect(answer.fields.description == "X-A: b\r\n" + (isChunked ? "" : "Content-Length: 10\r\n"))
    _ = bench.finish()
  }

  @Test("what the upload may have changed is no longer answered from the store")
  func invalidated() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd]))
    _ = try bench.bench.stored()
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    let resource = bench.bench.store.resource(
      for: CacheKey(authority: Bytes("site"), target: Bytes("/f")), create: false)
    #expect(resource?.withLock { $0.variants.isEmpty } ?? true)
    #expect(bench.finish() == [])
  }

  @Test("the application is asked again; its no is final unless it is for the client to mend", arguments: [401, 403])
  func asked(_ status: Int) throws {
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .send("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno"), .readToEnd]),
      site: "auth-request = /auth")
    let upload = try bench.complete(Array("hello".utf8), [(.authorization, "Bearer old")])
    upload.refreshCredentials(Fields([(.authorization, "Bearer new")]))
    bench.attempt(upload)
    let answer = status == 401 ? upload.lastRefusal?.answer : upload.answer
    #expect(upload.status.phase == (status == 401 ? .complete : .answered) && upload.nextAttempt == nil)
    #expect(answer?.status == status && answer?.body == Array("no".utf8))
    #expect(bench.finish() == [])
    #expect(bench.head().first == "GET /auth HTTP/1.1" && bench.head().contains("Authorization: Bearer new"))
    #expect(bench.head().contains("X-Original-Method: POST") && bench.head().contains("X-Original-URI: /f"))
  }

  @Test("what cannot be delivered is given up when the route says so")
  func givenUp() throws {
    let bench = try UploadBench(nil, site: "forward-give-up = 1h")
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    #expect(upload.giveUpAt == bench.clock.wallSeconds() + 3600)
    bench.clock.advance(by: .seconds(3600))
    bench.bench.turn { upload.status.phase == .removed }
    bench.bench.turn { bench.bench.running.events("upload-given-up").count == 1 }
    _ = bench.finish()
  }
}
