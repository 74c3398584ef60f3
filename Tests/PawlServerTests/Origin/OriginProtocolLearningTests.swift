import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What answers teach of the upload protocols that an origin speaks") struct OriginProtocolLearningTests {
  @Test(
    "a refusal of the form alone says that the origin wants tus",
    arguments: [
      (412, "Tus-Resumable: 1.0.0", true), (412, "Tus-Version: 1.0.0", true), (412, "X-A: b", true),
      (400, "Tus-Resumable: 1.0.0", true), (415, "Tus-Resumable: 1.0.0", true), (405, "Tus-Resumable: 1.0.0", true),
      (415, "X-A: b", false), (404, "Tus-Resumable: 1.0.0", false), (409, "Tus-Resumable: 1.0.0", false),
      (201, "Tus-Resumable: 1.0.0", false), (500, "Tus-Resumable: 1.0.0", false),
    ])
  func wanted(_ status: Int, _ field: String, _ expected: Bool) throws {
    let bench = try ServerBench()
    var head = ResponseHead(status: status)
    let parts = field.split(separator: ":", maxSplits: 1)
    head.fields.append(named: Bytes(String(parts[0])), Bytes(String(parts[1])).trimmed)
    #expect(OriginProtocolLearning.wantsTus(head, to: bench.request(.post, "/f").head) == expected)
    let asked = bench.request(.put, "/f", [(.ifMatch, "\"a\"")]).head
    #expect(OriginProtocolLearning.wantsTus(head, to: asked) == (expected && field.hasPrefix("Tus-")))
  }

  @Test("a request to an upload of the origin's own teaches where its uploads are made; another answer is a doubt")
  func passed() throws {
    let bench = try ServerBench { $0.site = "uploads = on" }
    var head = ResponseHead(status: 204)
    head.fields.append(.tusResumable, "1.0.0")
    OriginProtocolLearning.learn(passed: bench.request(.patch, "/files/abc", [(.tusResumable, "1.0.0")]), head)
    let now = bench.running.clock.now()
    let keys = ["/files", "/files/"].map { ProbeMemory.Key(bench.request(.post, $0)) }
    bench.running.server.services.probes.withLock { memory in
      for key in keys { #expect(memory.answer(for: key, at: now)?.tus == true) }
      let isNews = memory.teach(tus: ProbeMemory.Key(bench.request(.post, "/g")), isSaid: false, at: now)
      #expect(isNews)
    }
    OriginProtocolLearning.learn(
      passed: bench.request(.post, "/g", [(.tusResumable, "1.0.0")]), ResponseHead(status: 201))
    bench.running.server.services.probes.withLock { memory in
      #expect(memory.answer(for: ProbeMemory.Key(bench.request(.post, "/g")), at: now) == nil)
    }
  }

  @Test("OPTIONS of a client teaches of what is made by POST there")
  func options() throws {
    let bench = try ServerBench()
    var head = ResponseHead(status: 204)
    OriginProtocolLearning.learn(options: bench.request(.options, "/files"), head)
    let (key, now) = (ProbeMemory.Key(bench.request(.post, "/files")), bench.running.clock.now())
    #expect(bench.running.server.services.probes.withLock { $0.answer(for: key, at: now) } == nil)
    head.fields.append(named: Bytes("Tus-Version"), Bytes("1.0.0"))
    OriginProtocolLearning.learn(options: bench.request(.options, "/files"), head)
    #expect(bench.running.server.services.probes.withLock { $0.answer(for: key, at: now)?.tus } == true)
  }
}
