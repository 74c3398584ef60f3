import PawlCacheStore
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A fill, wherever it writes") struct FillTests {
  private static let size = 4 << 20
  private static func head(_ fields: String) -> OriginStep {
    .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\(fields)Content-Length: \(size)\r\n\r\n")
  }

  @Test(
    "goes on without readers where pausing would cost a replay; the next client finds it whole",
    arguments: [false, true])
  func goesOn(slowWrites: Bool) throws {
    let gate = Gate()
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.head(""), .sendPattern(count: 1000), .wait(gate),
        .sendPattern(from: 1000, count: Self.size - 1000), .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.site = "abandoned-fill = 0" }
    if slowWrites { pawl.expectSlowWrites() }
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(1000).count == 1000)
    client.reset()
    #expect(pawl.record(1, "ended_by").first == "client")
    gate.open()
    pawl.waitForHeld(UInt64(Self.size))
    let next = pawl.get()
    #expect(next.content == OriginStep.pattern(from: 0, count: Self.size))
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("pauses where the rest can be asked for, and goes on from what is held", arguments: [false, true])
  func pauses(slowWrites: Bool) throws {
    let tag = "ETag: \"v\"\r\nAccept-Ranges: bytes\r\n"
    let held = 1 << 20
    let part =
      "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\n\(tag)Content-Range: bytes \(held)-\(Self.size - 1)/\(Self.size)\r\n"
      + "Content-Length: \(Self.size - held)\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: held), .readToEnd],
      [.expectHead, .send(part), .sendPattern(from: UInt64(held), count: Self.size - held), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "abandoned-fill = 0" }
    if slowWrites { pawl.expectSlowWrites() }
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(held).count == held)
    client.reset()
    pawl.waitFor("fill-paused")
    #expect(pawl.events("fill-paused")[0].hasSuffix("at=\(held) why=no-readers"))
    let next = pawl.get()
    #expect(next.content == OriginStep.pattern(from: 0, count: Self.size) && next.isWhole)
    #expect(pawl.stop() == [])
    try #require(origin.received.count == 2)
    #expect(String(decoding: origin.received[1], as: UTF8.self).contains("\r\nRange: bytes=\(held)-"))
  }

  @Test("a body of unknown length beyond max-unknown is streamed and not kept", arguments: [false, true])
  func streams(slowWrites: Bool) throws {
    let (chunk, count) = (1 << 16, 40)
    var script: [OriginStep] = [.expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
    for index in 0..<count {
      script += [.send("10000\r\n"), .sendPattern(from: UInt64(index * chunk), count: chunk), .send("\r\n")]
    }
    let origin = ScriptedOrigin(.tcp, script + [.send("0\r\n\r\n"), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "max-unknown = 256K" }
    if slowWrites { pawl.expectSlowWrites() }
    let answer = pawl.get()
    #expect(answer.isWhole && answer.content == OriginStep.pattern(from: 0, count: chunk * count))
    #expect(pawl.events("streaming-unstored").count == 1)
    #expect(pawl.stored() == nil)
    #expect(pawl.stop() == [])
  }

  @Test("of a body that is streamed, a slow reader that leaves holds up nobody any more")
  func slowReaderLeaves() throws {
    let goOn = Gate()
    let origin = ScriptedOrigin(.tcp, StreamedBody.script(waitingFor: goOn))
    let pawl = try TestServer.streaming(origin)
    let (slow, fast) = pawl.connectSlowAndFast()
    let answer = TestLock<Answer?>(nil)
    let reading = TestThread { answer.withLock { $0 = fast.readAnswer() } }
    goOn.open()
    pawl.waitUntilTheFastWaits()
    slow.reset()
    reading.join()
    let whole = answer.withLock { $0 }
    #expect(whole?.isWhole == true && whole?.content == StreamedBody.content)
    #expect(pawl.stop() == [] && origin.acceptedCount == 1)
  }

  @Test("a cache too small for a body streams it", arguments: [false, true])
  func tooLarge(slowWrites: Bool) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, Self.head(""), .sendPattern(count: Self.size), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "max-object = 1M" }
    if slowWrites { pawl.expectSlowWrites() }
    #expect(pawl.get().content == OriginStep.pattern(from: 0, count: Self.size))
    #expect(pawl.stored() == nil)
    #expect(pawl.stop() == [])
  }

  @Test("goes on after a break with what was still being written", arguments: [false, true])
  func resumes(slowWrites: Bool) throws {
    let tag = "ETag: \"v\"\r\nAccept-Ranges: bytes\r\n"
    let (broke, from) = (700_000, 700_000 - 4096)
    let part =
      "HTTP/1.1 206 Partial Content\r\n\(tag)Content-Range: bytes \(from)-\(Self.size - 1)/\(Self.size)\r\n"
      + "Content-Length: \(Self.size - from)\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, Self.head(tag), .sendPattern(count: broke)],
      [.expectHead, .send(part), .sendPattern(from: UInt64(from), count: Self.size - from), .readToEnd])
    let pawl = try TestServer(origin)
    if slowWrites { pawl.expectSlowWrites() }
    let answer = pawl.advancing { pawl.get() }
    #expect(answer.content == OriginStep.pattern(from: 0, count: Self.size) && answer.isWhole)
    #expect(pawl.events("content-changed") == [] && pawl.stop() == [])
  }

  @Test("where writes are slow nobody but the fill waits for them")
  func writesInPool() throws {
    let (goOn, sent, disk) = (Gate(), Gate(), Gate())
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, Self.head(""), .sendPattern(count: 1000), .wait(goOn), .sendPattern(from: 1000, count: 1000),
        .open(sent), .sendPattern(from: 2000, count: Self.size - 2000), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    pawl.expectSlowWrites()
    let client = pawl.connect()
    client.send(TestServer.request())
    _ = client.readHead()
    #expect(client.read(1000).count == 1000)
    pawl.keepPoolBusy(until: disk)
    goOn.open()
    _ = sent.wait()
    // The loop goes on, and has looked at the origin's socket when it has answered twice.
    for _ in 0..<2 { #expect(pawl.ask("GET /g HTTP/1.1\r\n\r\n").status == 400) }
    #expect(pawl.stored()?.body.held.count == 1000)
    disk.open()
    #expect(client.read(Self.size - 1000) == OriginStep.pattern(from: 1000, count: Self.size - 1000))
    #expect(pawl.stop() == [])
  }
}
