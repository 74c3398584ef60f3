import PawlHTTP
import PawlLoop
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlServer

@Suite("Whether an origin speaks an upload protocol itself") struct OriginProbeTests {
  private func ask(_ bench: ServerBench, _ protocol: UploadProtocol, _ target: String = "/files") -> Bool? {
    var said: Bool?
    OriginProbe.speaks(`protocol`, bench.request(.post, target), on: bench.serverLoop.uploads) { said = $0 }
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
    bench.serverLoop.closeOrigins()
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
    var said: [Bool?] = []
    OriginProbe.speaks(.tus, bench.request(.post, "/files"), on: bench.serverLoop.uploads) { said.append($0) }
    OriginProbe.speaks(try draft(10), bench.request(.post, "/files"), on: bench.serverLoop.uploads) { said.append($0) }
    bench.turn { said.count == 2 }
    #expect(said == [false, true])
    #expect(bench.serverLoop.uploads.probes.isEmpty)
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
  }

  @Test("an origin that is not there speaks nothing, for a minute")
  func away() throws {
    let bench = try ServerBench(url: "http://127.0.0.1:1")
    #expect(ask(bench, .tus) == false)
    let key = ProbeMemory.Key(bench.request(.post, "/files"))
    let now = bench.running.clock.now()
    bench.running.server.services.probes.withLock { memory in
      #expect(memory.answer(for: key, at: now) != nil)
      #expect(memory.answer(for: key, at: now.advanced(by: .seconds(60))) == nil)
    }
    bench.serverLoop.closeOrigins()
  }

  /// An origin that has the question and is silent, until the gate opens.
  private func silent(_ body: (ServerBench, Gate) throws -> Void) throws {
    let gate = Gate()
    let answer = OriginStep.send("HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\n\r\n")
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), answer, .readToEnd])
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    try body(bench, gate)
    gate.open()
    bench.serverLoop.closeOrigins()
    _ = origin.finish()
  }

  private func advance(_ bench: ServerBench, _ seconds: Int) {
    for _ in 0..<seconds { bench.running.clock.advance(by: .seconds(1)) }
  }

  @Test("while it is silent the drafts pass after a second, tus waits ten, and the late answer counts")
  func silence() throws {
    try silent { bench, gate in
      var (drafts, late, tus): ([Bool?], [Bool?], [Bool?]) = ([], [], [])
      OriginProbe.speaks(.tus, bench.request(.post, "/files"), on: bench.serverLoop.uploads) { tus.append($0) }
      OriginProbe.speaks(try draft(6), bench.request(.post, "/files"), on: bench.serverLoop.uploads) {
        drafts.append($0)
      }
      bench.turnUntilAsked()
      advance(bench, 1)
      bench.turn { drafts.count == 1 }
      #expect(drafts == [true] && tus.isEmpty)
      OriginProbe.speaks(try draft(6), bench.request(.post, "/files"), on: bench.serverLoop.uploads) { late.append($0) }
      bench.turn { late.count == 1 }
      #expect(late == [true])
      advance(bench, 9)
      bench.turn { tus.count == 1 }
      #expect(tus == [Bool?.none])
      var answered: [Bool?] = []
      OriginProbe.speaks(.tus, bench.request(.post, "/files"), on: bench.serverLoop.uploads) { answered.append($0) }
      gate.open()
      bench.turn { answered.count == 1 }
      #expect(answered == [true] && bench.serverLoop.uploads.probes.isEmpty)
      #expect(ask(bench, .tus) == true)
    }
  }

  @Test("what the origin said before counts while it is silent")
  func before() throws {
    try silent { bench, gate in
      let key = ProbeMemory.Key(bench.request(.post, "/files"))
      var answer = ProbeMemory.Answer()
      answer.tus = true
      bench.running.server.services.probes.withLock {
        $0.remember(answer, for: key, isCertain: true, at: bench.running.clock.now())
      }
      bench.running.clock.advance(by: .seconds(601))
      var said: [Bool?] = []
      OriginProbe.speaks(.tus, bench.request(.post, "/files"), on: bench.serverLoop.uploads) { said.append($0) }
      bench.turnUntilAsked()
      #expect(said.isEmpty)
      advance(bench, 1)
      bench.turn { said.count == 1 }
      #expect(said == [true])
    }
  }

  @Test("late questions are few: the oldest ends when there are more, and all end after a minute")
  func bounded() throws {
    let steps = (0...OriginProbe.lateLimit).map { _ in [OriginStep.expectHead, .readToEnd] }
    let origin = ScriptedOrigin(.tcp, scripts: steps)
    let bench = try ServerBench(url: "http://127.0.0.1:\(origin.port)")
    var said: [Bool?] = []
    for number in 0...OriginProbe.lateLimit {
      OriginProbe.speaks(.tus, bench.request(.post, "/\(number)"), on: bench.serverLoop.uploads) { said.append($0) }
      bench.turnUntilAsked(number + 1)
      advance(bench, 1)
      bench.turn {
        bench.serverLoop.uploads.probes.values.filter(\.isLate).count == min(number + 1, OriginProbe.lateLimit)
      }
      if number < OriginProbe.lateLimit { #expect(said.isEmpty) }
    }
    bench.turn { said.count == 1 }
    #expect(said == [Bool?.none] && bench.serverLoop.uploads.probes.count == OriginProbe.lateLimit)
    advance(bench, 70)
    bench.turn { bench.serverLoop.uploads.probes.isEmpty }
    #expect(said.count == OriginProbe.lateLimit + 1)
    bench.serverLoop.closeOrigins()
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

extension ServerBench {
  /// Lets happen what can happen now, and waits a turn for what the loop has to learn from the network.
  func turnUntilAsked(_ count: Int = 1) {
    turn { serverLoop.uploads.probes.values.filter(\.isWithOrigin).count == count }
  }
}
