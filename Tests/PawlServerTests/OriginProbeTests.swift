import PawlHTTP
import PawlLoop
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlServer

@Suite("Whether an origin speaks an upload protocol itself") struct OriginProbeTests {
  private func ask(_ bench: ServerBench, _ protocol: UploadProtocol, _ target: String = "/files") -> Bool? {
    var said: Bool?
    OriginProbe.speaks(`protocol`, bench.request(.post, target)) { said = $0 }
    bench.turn { said != nil }
    return said
  }

  private func draft(_ number: Int) throws -> UploadProtocol { .ietf(try #require(InteropVersion(number: number))) }

  @Test("an OPTIONS tells, is asked once, and is logged once")
  func speaks() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\n\r\n"), .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    #expect(ask(bench, .tus) == true)
    #expect(ask(bench, .tus) == true)
    #expect(ask(bench, try draft(6)) == false)
    #expect(bench.running.events("origin-speaks-uploads").count == 1)
    bench.owner.closeOrigins()
    #expect(origin.finish() == [])
    let sent = String(decoding: origin.received[0], as: UTF8.self)
    #expect(sent.hasPrefix("OPTIONS /files HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\n"))
  }

  @Test("those who ask at the same time wait for one question")
  func joined() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nUpload-Limit: min-size=0\r\nContent-Length: 0\r\n\r\n"), .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    var said: [Bool] = []
    OriginProbe.speaks(.tus, bench.request(.post, "/files")) { said.append($0) }
    OriginProbe.speaks(try draft(10), bench.request(.post, "/files")) { said.append($0) }
    bench.turn { said.count == 2 }
    #expect(said == [false, true])
    #expect(bench.owner.probes.isEmpty)
    bench.owner.closeOrigins()
    #expect(origin.finish() == [])
  }

  @Test("an origin that is not there, or says nothing for a second, speaks nothing, for a minute")
  func silence() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    for url in ["http://127.0.0.1:1", "http://127.0.0.1:\(origin.port)"] {
      let bench = try ServerBench(url: url)
      var said: Bool?
      OriginProbe.speaks(.tus, bench.request(.post, "/files")) { said = $0 }
      if url.hasSuffix("\(origin.port)") {
        bench.turn { !origin.received.isEmpty && origin.received[0].suffix(4) == [13, 10, 13, 10] }
        bench.running.clock.advance(by: .seconds(1))
      }
      bench.turn { said != nil }
      #expect(said == false)
      let key = ProbeMemory.Key(bench.request(.post, "/files"))
      let now = bench.running.clock.now()
      bench.running.server.probes.withLock { memory in
        #expect(memory.answer(for: key, at: now) != nil)
        #expect(memory.answer(for: key, at: now.advanced(by: .seconds(60))) == nil)
      }
      bench.owner.closeOrigins()
    }
    _ = origin.finish()
  }

  @Test("the question is about the target: no upload, no preflight, no condition")
  func question() throws {
    let bench = try ServerBench()
    let request = bench.request(
      .post, "/files",
      [
        (.uploadLength, "5"), (.tusResumable, "1.0.0"), (.contentType, "a/b"), (.origin, "http://a"),
        (.ifMatch, "*"), (.authorization, "Bearer x"), (.expect, "100-continue"),
      ], framing: .length(5))
    let head = OriginProbe.question(request)
    #expect(head.method == .options && head.framing == .none)
    let left = head.fields.lines.map { head.fields.name($0).text }
    #expect(left.first == "Authorization")
    for name in ["Upload-Length", "Tus-Resumable", "Content-Type", "Origin", "If-Match", "Expect"] {
      #expect(!left.contains(name))
    }
  }
}
