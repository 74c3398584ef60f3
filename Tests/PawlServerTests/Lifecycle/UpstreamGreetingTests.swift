import PawlConfig
import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Upstreams at the start") struct UpstreamGreetingTests {
  private func upstream(_ urls: [String]) throws -> UpstreamSection {
    var section = UpstreamSection(name: "app")
    section.nodes = try urls.map { OriginNode(try #require(OriginURL($0))) }
    return section
  }

  @Test("each URL is said to answer, or why it does not")
  func answers() throws {
    let origin = ScriptedOrigin(.tcp, [.readToEnd])
    let folder = try TemporaryFolder()
    let urls = [
      "http://127.0.0.1:\(origin.port)", "http://unix:\(folder.path)/none.sock", "http://none.invalid:9000/base",
    ]
    let lines = TestLock<[String]>([])
    let all = Gate()
    let events = EventLog { line in
      let count = lines.withLock { lines in
        lines.append(String(line.drop { $0 != " " }.dropFirst()))
        return lines.count
      }
      if count == urls.count { all.open() }
    }
    let (loop, thread) = try EventLoop.startThread(index: 0)
    let resolver = Resolver(threads: 1) { _ in .failure(.notFound) }
    UpstreamGreeting.begin([try upstream(urls)], on: loop, resolver, events)
    #expect(all.wait())
    loop.stop()
    thread.join()
    let said = lines.withLock { $0 }.sorted()
    #expect(said.count == 3)
    let prefix = "info upstream-answers upstream=app url=\(urls[0]) address=127.0.0.1:\(origin.port) after="
    #expect(said.first?.hasPrefix(prefix) == true)
    #expect(
      said.dropFirst() == [
        "warning upstream-silent upstream=app url=http://none.invalid:9000/base why=\"none.invalid: no such host\"",
        "warning upstream-silent upstream=app url=\(urls[1]) why=\"unix:\(folder.path)/none.sock: No such file or directory\"",
      ])
  }

  @Test("64 URLs are tried, and no more")
  func most() throws {
    let urls = (1...65).map { "http://127.0.0.1:\($0)" }
    #expect(UpstreamGreeting.asked(of: [try upstream(Array(urls.prefix(64)))]).count == 64)
    #expect(UpstreamGreeting.asked(of: [try upstream(urls)]).map(\.url.port).last == 64)
    #expect(UpstreamGreeting.asked(of: [try upstream([urls[0]]), try upstream([urls[1]])]).map(\.url.port) == [1, 2])
  }
}
