import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("What origins said of the upload protocols they speak") struct ProbeMemoryTests {
  private let upstream = ObjectIdentifier(ProbeMemoryTests.self)
  private let start = Monotonic(nanoseconds: 0)

  private func key(_ target: String, _ method: Method = .post, route: String = "r") -> ProbeMemory.Key {
    ProbeMemory.Key(upstream: upstream, route: route, method: method, target: Bytes(target))
  }

  @Test("a POST is known by its path, what is put somewhere by its directory")
  func keys() {
    #expect(key("/files/?a=b") == key("/files/"))
    #expect(key("/files") != key("/files/"))
    #expect(key("/files/a", .put) == key("/files/b?q", .patch))
    #expect(key("/files/a", .put) != key("/a", .put))
    #expect(key("/a", .put) == key("/", .put) && key("*", .put).path == Array("*".utf8))
    #expect(key("/a", route: "r") != key("/a", route: "s"))
  }

  @Test(
    "an answer is read for what announces a protocol",
    arguments: [
      (204, "Tus-Version: 1.0.0", true, false), (204, "Tus-Resumable: 1.0.0", true, false),
      (200, "Upload-Limit: max-size=5", false, true),
      (200, "Accept-Patch: text/x, application/partial-upload", false, true),
      (200, "Accept-Patch: application/json", false, false), (404, "Tus-Version: 1.0.0", false, false),
      (405, "Tus-Resumable: 1.0.0", true, false), (412, "Tus-Version: 1.0.0", true, false),
      (405, "Upload-Limit: max-size=5", false, false), (405, "Allow: POST", false, false),
      (200, "Access-Control-Allow-Headers: Tus-Resumable", false, false),
    ])
  func answers(_ status: Int, _ field: String, _ tus: Bool, _ ietf: Bool) {
    var head = ResponseHead(status: status)
    let parts = field.split(separator: ":", maxSplits: 1)
    head.fields.append(named: Bytes(String(parts[0])), Bytes(String(parts[1])).trimmed)
    let answer = ProbeMemory.Answer(head)
    #expect(answer.tus == tus && answer.ietf == ietf)
  }

  @Test("answers hold ten minutes, silence one", arguments: [(true, 600), (false, 60)])
  func lifetimes(isCertain: Bool, _ seconds: Int) {
    var memory = ProbeMemory()
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: isCertain, at: start)
    #expect(memory.answer(for: key("/a"), at: start.advanced(by: .seconds(seconds - 1))) == ProbeMemory.Answer())
    #expect(memory.answer(for: key("/a"), at: start.advanced(by: .seconds(seconds))) == nil)
    #expect(memory.answer(for: key("/b"), at: start) == nil)
  }

  private var tus: ProbeMemory.Answer {
    var answer = ProbeMemory.Answer()
    answer.tus = true
    return answer
  }

  @Test("what the origin said outlasts a question that was not answered")
  func silence() {
    var memory = ProbeMemory()
    #expect(memory.lastSaid(for: key("/a")) == nil)
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: false, at: start)
    #expect(memory.lastSaid(for: key("/a")) == nil)
    memory.remember(tus, for: key("/a"), isCertain: true, at: start)
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: false, at: start.advanced(by: .seconds(700)))
    #expect(memory.answer(for: key("/a"), at: start.advanced(by: .seconds(701))) == tus)
    #expect(memory.lastSaid(for: key("/a")) == tus)
  }

  @Test("what an origin shows outweighs an OPTIONS that says nothing, for a day; a doubtful lesson ends with a doubt")
  func lessons() {
    var memory = ProbeMemory()
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: true, at: start)
    let news = [true, false].map { _ in memory.teach(tus: key("/a"), isSaid: true, at: start) }
    #expect(news == [true, false])
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: true, at: start)
    memory.doubt(key("/a"))
    #expect(memory.answer(for: key("/a"), at: start) == tus)
    let later = start.advanced(by: ProbeMemory.lessonLifetime)
    memory.remember(ProbeMemory.Answer(), for: key("/a"), isCertain: true, at: later)
    #expect(memory.answer(for: key("/a"), at: later) == ProbeMemory.Answer())
    _ = memory.teach(tus: key("/b"), isSaid: false, at: start)
    #expect(memory.answer(for: key("/b"), at: start) == tus)
    memory.doubt(key("/b"))
    #expect(memory.answer(for: key("/b"), at: start) == nil)
  }

  @Test("the oldest goes when there are too many; what was renewed is not old")
  func bounded() {
    var memory = ProbeMemory()
    for number in 0..<ProbeMemory.limit {
      memory.remember(ProbeMemory.Answer(), for: key("/\(number)"), isCertain: true, at: start)
    }
    for _ in 0..<3 * ProbeMemory.limit {
      memory.remember(ProbeMemory.Answer(), for: key("/0"), isCertain: true, at: start)
    }
    memory.remember(ProbeMemory.Answer(), for: key("/new"), isCertain: true, at: start)
    #expect(memory.count == ProbeMemory.limit)
    #expect(memory.answer(for: key("/0"), at: start) != nil && memory.answer(for: key("/new"), at: start) != nil)
    #expect(memory.answer(for: key("/1"), at: start) == nil && memory.answer(for: key("/2"), at: start) != nil)
  }
}
