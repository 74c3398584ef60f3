import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Uploads over HTTP/2") struct HTTP2UploadTests {
  private static let six = ("upload-draft-interop-version", "6")
  private static let partial = ("content-type", "application/partial-upload")

  private func target(_ fields: [(String, String)]) -> String {
    let location = fields.first { $0.0 == "location" }?.1 ?? ""
    return location.hasPrefix("http://site") ? String(location.dropFirst("http://site".count)) : ""
  }

  @Test("the URL comes as a 104 before the content is read, and the origin's answer behind it")
  func whole() throws {
    let talk = try UploadTalk([5])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open(
      "POST /f?q", [Self.six, ("upload-complete", "?1"), ("content-length", "5"), ("expect", "100-continue")],
      ends: false)
    client.read { client.answers[stream]?.interim.count == 2 }
    let interim = try #require(client.answers[stream]?.interim)
    #expect(interim[0].prefix(2).map { $0.1 } == ["104", "6"] && interim[1].map { $0.1 } == ["100"])
    #expect(target(interim[0]).hasPrefix(UploadTalk.url))
    client.data(Array("hello".utf8), on: stream, ends: true)
    let answer = client.answer(stream)
    #expect(answer.status == 200 && answer.text == "done" && answer["upload-complete"] == "?1")
    #expect(answer["upload-offset"] == "5" && answer["x-app"] == "yes")
    client.socket.close()
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("a stream that is reset keeps what came: the upload goes on from there, on the same connection")
  func resumed() throws {
    let talk = try UploadTalk([5])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open("POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "5")], ends: false)
    client.read { client.answers[stream]?.interim.isEmpty == false }
    let target = target(client.answers[stream]?.interim[0] ?? [])
    client.data(Array("he".utf8), on: stream)
    client.reset(stream)
    talk.pawl.waitUntil("the bytes are there") {
      client.answer(client.open("HEAD \(target)", [Self.six]))["upload-offset"] == "2"
    }
    let last = client.open(
      "PATCH \(target)", [Self.six, Self.partial, ("upload-offset", "2"), ("upload-complete", "?1")], ends: false)
    client.data(Array("llo".utf8), on: last, ends: true)
    let answer = client.answer(last)
    #expect(answer.status == 200 && answer.text == "done")
    client.socket.close()
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("more content than announced completes no upload; what came before its last byte stays")
  func malformed() throws {
    let talk = try UploadTalk([])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open("POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "5")], ends: false)
    client.read { client.answers[stream]?.interim.isEmpty == false }
    let target = target(client.answers[stream]?.interim[0] ?? [])
    client.data(Array("hello".utf8), on: stream)
    client.data([0x21], on: stream)
    #expect(client.answer(stream).resetCode == 1)
    let answer = client.answer(client.open("HEAD \(target)", [Self.six]))
    #expect(answer["upload-offset"] == "4" && answer["upload-complete"] == "?0")
    client.socket.close()
    talk.finish()
  }

  @Test("all that was announced, and a reset instead of the end: an upload is complete")
  func resetAtTheEnd() throws {
    let talk = try UploadTalk([5])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open("POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "5")], ends: false)
    client.read { client.answers[stream]?.interim.isEmpty == false }
    client.data(Array("hello".utf8), on: stream)
    client.reset(stream)
    talk.pawl.waitFor("upload-answered")
    client.socket.close()
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("what came right before a reset is kept to its last byte, be it in one turn with the request or not")
  func resetBehindContent() throws {
    let talk = try UploadTalk([])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open("POST /f", [Self.six, ("upload-complete", "?0")], ends: false)
    client.read { client.answers[stream]?.interim.isEmpty == false }
    let target = target(client.answers[stream]?.interim[0] ?? [])
    // Far more than is taken off the connection at once: some of it waits when the reset comes.
    let piece = [UInt8](repeating: 1, count: 16_384)
    let cut = HTTP2Client.bytes(8 as UInt32)
    client.socket.send(
      (0..<32).flatMap { _ in HTTP2Client.frame(.data, 0, stream, piece) }
        + HTTP2Client.frame(.rstStream, 0, stream, cut))
    func waitForOffset(_ offset: Int) {
      // Without a request: that would end whoever still writes.
      talk.pawl.waitUntil("\(offset) bytes are there") {
        talk.pawl.onLoop { $0.services.router.all[0].uploads?.store.uploads.first?.status.offset } == UInt64(offset)
      }
      #expect(client.answer(client.open("HEAD \(target)", [Self.six]))["upload-offset"] == "\(offset)")
    }
    waitForOffset(32 * 16_384)
    var offset = 32 * 16_384
    for count in [1, 2] {
      let append = client.nextStream
      client.skipStreams(1)
      let fields = HTTP2Client.requestFields(
        "PATCH \(target)", [Self.six, Self.partial, ("upload-offset", "\(offset)"), ("upload-complete", "?1")])
      client.socket.send(
        HTTP2Client.frame(.headers, 4, append, HTTP2Client.block(fields))
          + (0..<count).flatMap { _ in HTTP2Client.frame(.data, 0, append, piece) }
          + HTTP2Client.frame(.rstStream, 0, append, cut))
      offset += count * piece.count
      waitForOffset(offset)
    }
    client.socket.close()
    talk.finish()
  }

  @Test("more than the windows hold arrives whole and in its order")
  func large() throws {
    let size = 6 << 20
    let talk = try UploadTalk([size])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let pattern = OriginStep.pattern(from: 0, count: size)
    let stream = client.open(
      "POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "\(size)")], ends: false)
    #expect(client.upload(pattern, on: stream))
    let answer = client.answer(stream)
    #expect(answer.status == 200 && answer["upload-offset"] == "\(size)")
    client.socket.close()
    talk.finish()
    #expect(talk.origin.received[1].suffix(size).elementsEqual(pattern))
  }

  @Test("a newer request ends an older transfer, which is answered by nothing but a reset")
  func takeover() throws {
    let talk = try UploadTalk([])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open("POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "5")], ends: false)
    client.data(Array("he".utf8), on: stream)
    client.read { client.answers[stream]?.interim.isEmpty == false }
    let target = target(client.answers[stream]?.interim[0] ?? [])
    talk.pawl.waitUntil("the bytes are there") {
      talk.pawl.onLoop { $0.services.router.all[0].uploads?.store.uploads.first?.status.phase == .open } == true
    }
    #expect(client.answer(client.open("HEAD \(target)", [Self.six])).status == 204)
    let answer = client.answer(stream)
    #expect(answer.status == 0 && answer.resetCode == 8)
    talk.pawl.waitFor("upload-displaced")
    client.socket.close()
    talk.finish()
  }

  @Test("tus: creation, content in two requests, and the origin gets one")
  func tus() throws {
    let talk = try UploadTalk([5])
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let version = ("tus-resumable", "1.0.0")
    let made = client.answer(client.open("POST /files", [version, ("upload-length", "5")]))
    #expect(made.status == 201)
    let target = target(made.fields)
    #expect(!target.isEmpty)
    for (offset, text) in [(0, "he"), (2, "llo")] {
      let stream = client.open(
        "PATCH \(target)",
        [version, ("upload-offset", "\(offset)"), ("content-type", "application/offset+octet-stream")], ends: false)
      client.data(Array(text.utf8), on: stream, ends: true)
      let answer = client.answer(stream)
      #expect(answer.status == 204 && answer["upload-offset"] == "\(offset + text.count)")
    }
    talk.pawl.waitFor("upload-answered")
    client.socket.close()
    talk.finish()
    #expect(talk.received().hasSuffix("\r\n\r\nhello"))
  }

  @Test("content that is too large is refused at once; the rest is dropped, and the stream ends in order")
  func tooLarge() throws {
    let talk = try UploadTalk([], site: "max-upload = 10")
    let client = HTTP2Client(talk.pawl)
    client.readSettings()
    let stream = client.open(
      "POST /f", [Self.six, ("upload-complete", "?1"), ("content-length", "100000")], ends: false)
    client.read { client.answers[stream]?.isWhole == true }
    #expect(client.answers[stream]?.status == 413)
    #expect(client.upload([UInt8](repeating: 1, count: 100_000), on: stream))
    #expect(client.answer(client.open("OPTIONS \(UploadTalk.url)x")).status == 200)
    #expect(client.answers[stream]?.resetCode == nil)
    client.socket.close()
    talk.finish()
  }
}
